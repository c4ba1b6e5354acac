// `npm run e2e:peers [NAME…]`: other people's programs in whole conversations with ours. Installs them into .cache and writes the matrix into
// docs/interop.md, unless `--no-write` is given.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

const PAGE = join(ROOT, 'docs/interop.md');
const FOUND = join(ROOT, '.cache/peers/results.json');
const [OPEN, CLOSE] = ['<!-- e2e:peers -->', '<!-- /e2e:peers -->'];

const args = process.argv.slice(2);
const names = args.filter((name) => !name.startsWith('-'));
await ensureInstalled();
const { status } = runTool('vitest', ['run', '--config', 'vitest.peers.config.ts', ...names], {
  env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` },
});
const found = JSON.parse(readFileSync(FOUND, 'utf8'));
if (!args.includes('--no-write')) writeMatrix(found);
const absent = names.filter((name) => !found.testResults.some((file) => file.name.includes(`/peers/${name}/`)));
for (const name of absent) process.stderr.write(`e2e:peers: there is no peer ${name} in test/peers\n`);
process.exit(absent.length > 0 ? 1 : (status ?? 1));

/** One row per peer. Rows of peers that did not run this time stay as they are. */
function writeMatrix({ testResults }) {
  const page = readFileSync(PAGE, 'utf8');
  const [head, rest] = page.split(OPEN);
  const [before, tail] = rest?.split(CLOSE) ?? [];
  if (tail === undefined) throw new Error(`docs/interop.md has no place for the matrix: ${OPEN} … ${CLOSE}`);
  const rows = new Map(
    before
      .split('\n')
      .map((line) => [/^\| ([^|]+) \|/.exec(line)?.[1], line])
      .filter(([peer]) => peer?.startsWith('their ')),
  );
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  for (const [peer, found] of Map.groupBy(tests, ({ ancestorTitles }) => ancestorTitles[0])) {
    const failed = found.filter((test) => test.status === 'failed').map((test) => test.title);
    const passed = found.filter((test) => test.status === 'passed').length;
    const left = found.every((test) => test.status === 'skipped') ? 'left out: could not be installed' : failed.join('; ') || 'none';
    rows.set(peer, `| ${peer} | ${passed} of ${found.length} | ${left} |`);
  }
  const table = ['| peer | conversations that work | those that do not |', '|---|---|---|', ...[...rows.values()].sort()];
  writeFileSync(PAGE, `${head}${OPEN}\n${table.join('\n')}\n${CLOSE}${tail}`);
}
