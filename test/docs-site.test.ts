import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDocs } from '../src/server/adapters/console.ts';
import { scratchFolder } from './support/scratch.ts';
import { builtIn, startServer } from './support/server.ts';

const SCRIPT = fileURLToPath(new URL('../scripts/docs-site.mjs', import.meta.url));
const folder = join(scratchFolder(), 'site');
const packed = join(scratchFolder(), 'docs.br');
/** The content of every file of the site, by its path. */
const files = new Map<string, string>();

beforeAll(() => {
  execFileSync(process.execPath, [SCRIPT, '--to', folder], { stdio: 'pipe' });
  execFileSync(process.execPath, [SCRIPT, '--pack', '--to', packed], { stdio: 'pipe' });
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = name.replaceAll('\\', '/');
    if (statSync(join(folder, name)).isFile()) files.set(path, readFileSync(join(folder, name), 'utf8'));
  }
});

const pages = (): readonly (readonly [string, string])[] => [...files].filter(([path]) => path.endsWith('.html'));
const idsIn = (html: string): ReadonlySet<string> => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

describe('the documentation site', () => {
  it('has a page for every Markdown file that the index names', () => {
    const index = files.get('index.html') ?? '';
    const sources = readFileSync(new URL('../docs/index.md', import.meta.url), 'utf8').matchAll(/\]\(([^)#]+)\.md/g);
    const named = [...sources].map(([, name = '']) => (name === '../CONTRIBUTING' ? 'contributing' : name));
    expect(named.length).toBeGreaterThan(40);
    for (const name of named) {
      expect([...files.keys()]).toContain(`${name}.html`);
      expect(index).toContain(`<a href="${name}.html">`);
    }
  });

  it('has no link, anchor or picture that leads nowhere', () => {
    const broken: string[] = [];
    let seen = 0;
    for (const [path, html] of pages()) {
      for (const [, target = ''] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^https?:/.test(target)) continue;
        seen += 1;
        const [file = '', anchor] = target.split('#');
        const at = file === '' ? path : posix.join(posix.dirname(path), file);
        const found = files.get(at);
        if (found === undefined || (anchor !== undefined && !idsIn(found).has(anchor))) broken.push(`${path}: ${target}`);
      }
    }
    expect(broken).toEqual([]);
    expect(seen).toBeGreaterThan(2000);
  });

  it('has an address for every section in the search index', () => {
    const text = files.get('search-index.js') ?? '';
    const sections: readonly (readonly [string, string, string, string])[] = JSON.parse(
      text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    );
    expect(sections.length).toBeGreaterThan(300);
    for (const [address] of sections) {
      const [file = '', anchor] = address.split('#');
      expect(anchor === undefined || idsIn(files.get(file) ?? '').has(anchor), address).toBe(true);
    }
    expect(sections.some(([address, , , words]) => address.startsWith('config.html') && words.includes('--no-docs'))).toBe(true);
  });

  it('has no inline script, style or handler, which its policy forbids', () => {
    for (const [path, html] of pages()) {
      expect([path, /<script(?![^>]* src=)|<style| style=| on[a-z]+=["']/i.exec(html.replaceAll(/<pre[\s\S]*?<\/pre>/g, ''))?.[0]]).toEqual(
        [path, undefined],
      );
    }
    expect(files.get('site.js')).not.toMatch(/innerHTML|eval\(|new Function/);
  });

  it('adds at most 300 kB to the package', () => expect(statSync(packed).size).toBeLessThanOrEqual(300_000));
});

describe('/docs/', () => {
  it('serves every page with a policy, to everybody that the checks of host and origin accept', async () => {
    const server = await startServer({ agents: [builtIn('echo')], docs: createDocs({ file: packed }) });
    const get = (path: string, headers = {}): Promise<Response> => fetch(`${server.url}${path}`, { redirect: 'manual', headers });
    const bare = await get('/docs');
    expect([bare.status, new URL(bare.headers.get('location') ?? '', `${server.url}/docs`).pathname]).toEqual([308, '/docs/']);
    for (const [path, content] of files) {
      const answer = await get(`/docs/${path}`);
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, content]);
      expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    }
    expect(await (await get('/docs/')).text()).toBe(files.get('index.html'));
    expect((await get('/docs/site.css')).headers.get('content-type')).toContain('text/css');
    for (const path of ['/docs/none.html', '/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/__proto__', '/docs/cli.html/'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await get('/docs/', { Origin: 'https://evil.example' })).status).toBe(403);
    expect((await fetch(`${server.url}/docs/`, { method: 'POST' })).status).toBe(405);
    expect(await (await get('/api/parley/v1/health')).json()).toMatchObject({ docs: '/docs/' });
    await server.close();
  });

  it('does not take the place of an agent with this name', async () => {
    const agents = [builtIn('echo'), { ...builtIn('script'), card: { ...builtIn('script').card, name: 'docs' } }];
    const server = await startServer({ agents, docs: createDocs({ file: packed }) });
    const card = await fetch(`${server.url}/agents/docs/.well-known/agent-card.json`);
    expect(await card.json()).toMatchObject({ name: 'docs' });
    expect(await (await fetch(`${server.url}/docs/`)).text()).toContain('<h1');
    await server.close();
  });

  it('says what to do when the package has no pages', async () => {
    const answer = await createDocs({ file: join(folder, 'none.br') })('/docs/');
    expect([answer.status, String(answer.body)]).toEqual([503, expect.stringContaining('npm run docs:site')]);
  });
});
