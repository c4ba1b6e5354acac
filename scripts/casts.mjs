// Type assertions in src/, without its tests: `x as T` and `x!`, counted in the syntax tree, without `as const`.
// `node scripts/casts.mjs` prints each with its place; `npm run measure` prints how many there are in 1,000 lines of code.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, requireInstalled } from './install.mjs';

const ASSERTIONS = new Set(['TsAsExpression', 'TsNonNullExpression', 'TsTypeAssertion']);

/** The type assertions of one file: the line of each, with the text of the code. */
export async function assertions(name, text) {
  const { parseSync } = await import('@swc/core');
  // swc counts positions in bytes, over all files. The first statement marks the start of this file.
  const marked = `;${text}`;
  const { body } = parseSync(marked, { syntax: 'typescript', tsx: name.endsWith('x'), target: 'esnext' });
  const bytes = Buffer.from(marked);
  const base = body[0].span.start;
  const found = [];
  visit(body, ({ type, span }) => {
    if (!ASSERTIONS.has(type)) return;
    const before = bytes.subarray(0, span.end - base).toString();
    found.push({
      line: before.split('\n').length,
      text: bytes
        .subarray(span.start - base, span.end - base)
        .toString()
        .replace(/\s+/g, ' '),
    });
  });
  return found;
}

/** The files of src/ without tests and generated code. */
export function sourceFiles() {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], { cwd: ROOT, encoding: 'utf8' });
  return [...new Set(list.split('\n'))].filter(
    (name) => /[.]tsx?$/.test(name) && !/[.]test[.]tsx?$|[/]generated[/]/.test(name) && existsSync(join(ROOT, name)),
  );
}

function visit(node, see) {
  if (Array.isArray(node)) for (const item of node) visit(item, see);
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string') see(node);
    for (const member of Object.values(node)) visit(member, see);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  requireInstalled();
  let count = 0;
  for (const name of sourceFiles())
    for (const { line, text } of await assertions(name, readFileSync(join(ROOT, name), 'utf8'))) {
      count += 1;
      console.log(`${name}:${line}: ${text.slice(-140)}`);
    }
  console.log(`${count} type assertions`);
}
