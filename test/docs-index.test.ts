import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '#server';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const pages = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.md') && !/^(?:index\.md|cli-conformance\.md|decisions\/|reference\/|runbooks\/)/.test(name));

/** Every page must be linked, or nobody finds it. The guide to operating a node links the runbooks. */
describe('every page of docs/', () => {
  for (const [name, prefix] of [
    ['docs/index.md', ''],
    ['llms.txt', 'docs/'],
  ] as const) {
    it(`is in ${name}, and nothing else is`, () => {
      const text = readFileSync(`${ROOT}${name}`, 'utf8');
      const linked = [...text.matchAll(/\]\(([^)#]+\.md)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !target.includes('CONTRIBUTING'));
      expect([...new Set(linked)].sort()).toEqual(pages.map((page) => `${prefix}${page}`).sort());
    });
  }
});

describe('the guides', () => {
  const guides = pages
    .filter((name) => name.startsWith('guides/'))
    .map((name) => [name, readFileSync(`${ROOT}docs/${name}`, 'utf8')] as const);

  it('have the titles of the tasks that people come with', () => {
    const titles = guides.map(([, text]) => /^# (.+)/.exec(text)?.[1]);
    const serving = ['Serve a function', 'Remember a conversation', 'Ask for approval', 'Put it behind nginx'];
    expect(titles).toEqual(expect.arrayContaining([...serving, 'Call an agent', 'Move from the official SDK', 'Debug a stuck task']));
  });

  it.each(guides)('%s has only commands that a person can paste', (_, text) => {
    const commands = [...text.matchAll(/^```sh.*\n([\s\S]*?)^```/gm)].map(([, code = '']) => code).join('');
    expect(commands).not.toMatch(/\btrap\b|\btest "|\[ "?\$|\buntil\b|\bwhile\b|PARLEY_LOG=|> \/dev\/null/);
  });
});

it('docs/config.md says of every setting whether a reload or a restart applies a change', () => {
  const rows = readFileSync(`${ROOT}docs/config.md`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  for (const { name, appliedBy } of SETTINGS) {
    const cells = rows.find((row) => row.startsWith(`| \`${name}\` |`))?.split(' | ') ?? [];
    expect(cells[4], name).toBe(appliedBy);
  }
});
