// Turns the Markdown of docs/ into the files of the documentation site, as texts by path.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, Renderer } from 'marked';
import { escaped, pageHtml } from './page.mjs';
import { slugs } from './slug.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../..');
const DOCS = join(ROOT, 'docs');
/** Pages of the root folder that the documentation links to. */
const ROOT_PAGES = { '../CONTRIBUTING.md': 'contributing.html' };

/** Every file of the site, by its path. All links are relative, so the site works under any path. */
export function buildSite() {
  const sources = sourcePages();
  const files = new Map();
  const pictures = new Set();
  const pages = [...sources].map(([source, path]) => readPage(source, path, { sources, pictures }));
  const nav = groupsOf(pages.find(({ path }) => path === 'index.html').tokens, sources);
  for (const page of pages) files.set(page.path, pageHtml(page, nav));
  files.set('search-index.js', `globalThis.docsIndex(${JSON.stringify(pages.flatMap(({ sections }) => sections))});\n`);
  files.set('site.css', `${readFileSync(join(ROOT, 'src/console/style/base.css'), 'utf8')}${readFileSync(join(HERE, 'site.css'), 'utf8')}`);
  files.set('site.js', readFileSync(join(HERE, 'site.js'), 'utf8'));
  files.set('icon.svg', readFileSync(join(ROOT, 'src/console/icon.svg'), 'utf8'));
  for (const name of pictures) files.set(name, readFileSync(join(DOCS, name), 'utf8'));
  return files;
}

/** The Markdown files, as paths below docs/, with the path of the page that is made from each. */
function sourcePages() {
  const names = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md') && !/^(?:decisions|reference)[/]/.test(name))
    .sort();
  return new Map([...names.map((name) => [name, name.replace(/[.]md$/, '.html')]), ...Object.entries(ROOT_PAGES)]);
}

function readPage(source, path, { sources, pictures }) {
  const text = readFileSync(join(DOCS, source), 'utf8').replaceAll(/<!--[\s\S]*?-->\n?/g, '');
  const slug = slugs();
  const renderer = {
    heading({ tokens, depth, text: words }) {
      const id = slug(words);
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
    },
    link({ href, title, tokens }) {
      const words = this.parser.parseInline(tokens);
      const target = pageTarget(href, { source, path, sources });
      // Sources and tests are not part of the site.
      if (target === undefined) return `<span class="source" title="${escaped(inRepository(source, href))}">${words}</span>`;
      return `<a href="${escaped(target)}"${title ? ` title="${escaped(title)}"` : ''}>${words}</a>`;
    },
    image({ href, text: words }) {
      const name = posix.join(posix.dirname(source), href);
      pictures.add(name);
      return `<img src="${escaped(posix.relative(posix.dirname(path), name))}" alt="${escaped(words)}">`;
    },
    code({ text: words, lang }) {
      return `<pre tabindex="0" class="code"${lang ? ` data-language="${escaped(lang.split(' ')[0])}"` : ''}><code>${escaped(words)}</code></pre>\n`;
    },
    // A wide table scrolls in its own box, so the page does not.
    table(token) {
      return `<div class="wide" role="region" tabindex="0" aria-label="Table">${Renderer.prototype.table.call(this, token)}</div>`;
    },
    html: ({ text: words }) => escaped(words),
  };
  const marked = new Marked({ gfm: true, renderer });
  const tokens = marked.lexer(text);
  const title = tokens.find(({ type }) => type === 'heading')?.text ?? source;
  return { path, title: plain(title), html: marked.parser(tokens), tokens, sections: sectionsOf(tokens, { path, title: plain(title) }) };
}

/** Where a link leads, seen from its page. Undefined: to a file that is no page. */
function pageTarget(href, { source, path, sources }) {
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href;
  const [file, anchor] = href.split('#');
  const page = sources.get(posix.join(posix.dirname(source), file).replace(/^[.][.][/]docs[/]/, ''));
  if (page === undefined) return undefined;
  return `${posix.relative(posix.dirname(path), page)}${anchor === undefined ? '' : `#${anchor}`}`;
}

function inRepository(source, href) {
  return relative(ROOT, join(DOCS, dirname(source), href)).replaceAll('\\', '/');
}

/** The menu: each section of docs/index.md with the links of its list. */
function groupsOf(tokens, sources) {
  const groups = [];
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth === 2) groups.push({ title: token.text, links: [] });
    if (token.type === 'list') groups.at(-1)?.links.push(...linksIn(token).filter(({ href }) => sources.has(href)));
  }
  return groups.map(({ title, links }) => ({
    title,
    links: links.map(({ href, text }) => ({ path: sources.get(href), text: plain(text) })),
  }));
}

function linksIn(token) {
  if (token.type === 'link') return [token];
  return [...(token.items ?? []), ...(token.tokens ?? [])].flatMap(linksIn);
}

/** What the search looks through: address, page, heading and text of every section. */
function sectionsOf(tokens, { path, title }) {
  const slug = slugs();
  const sections = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const id = slug(token.text);
      sections.push([token.depth === 1 ? path : `${path}#${id}`, title, token.depth === 1 ? '' : plain(token.text), '']);
    } else if (sections.length > 0) {
      const section = sections.at(-1);
      section[3] = `${section[3]} ${plain(wordsOf(token))}`.trim();
    }
  }
  return sections;
}

function wordsOf(token) {
  if (token.type === 'table') return [token.header, ...token.rows].map((row) => row.map(({ text }) => text).join(' ')).join('\n');
  return token.text ?? token.raw;
}

/** Markdown without its marks, on one line. */
function plain(text) {
  return text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
