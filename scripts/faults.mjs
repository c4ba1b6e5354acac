// `npm run faults [ID|FILE…]`: every repeated fault in its full size (1,000 kills of the server, 10,000 streams …), and every figure (a duration,
// a rate, an amount of memory) compared with its limit. Takes about an hour, on a machine that does nothing else. `npm run faults list` prints
// the ids of docs/faults.md and their test files.
import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

/** `npm run faults -- operate`: what an operator does with a node that is in use. `cluster`: several nodes on one database. */
const GROUPS = {
  operate: ['test/faults/operate.test.ts', 'test/faults/operate-load.test.ts'],
  cluster: [
    'test/faults/postgres-cluster.test.ts',
    ...[
      'r1-killed',
      'r2-r3-isolated',
      'r4-database',
      'r4-standby',
      'r4-space',
      'r5-r6-commits',
      'r6-agents',
      'r7-clocks',
      'r8-rolling',
    ].map((name) => `test/faults/${name}.test.ts`),
  ],
  soak: ['test/faults/operate-load.test.ts'],
};
const SOAK_MINUTES = '30';
const given = process.argv.slice(2);
const faults = faultsOfPage();
if (given[0] === 'list') {
  if (given[1] === '--json') console.log(JSON.stringify(Object.fromEntries(faults)));
  else
    for (const [id, { fault, files }] of faults) console.log(`${id.padEnd(4)} ${fault}${files.map((file) => `\n       ${file}`).join('')}`);
  process.exit(0);
}
const unknown = given.filter((name) => /^[A-Z]\d+$/.test(name) && !faults.has(name));
if (unknown.length > 0) {
  console.error(`There is no fault ${unknown.join(', ')}. See: npm run faults list`);
  process.exit(2);
}
await ensureInstalled();
if (given[0] === 'fuzz') process.exit(fuzz(given.slice(1)));
process.env['PARLEY_FAULTS'] = 'full';
// `npm run soak [-- --minutes N]`
if (given[0] === 'soak') {
  process.env['PARLEY_OPERATE_MINUTES'] = optionIn(given, '--minutes') ?? SOAK_MINUTES;
  given.splice(1);
}
// `npm run faults -- cluster --long`: nodes are killed for an hour.
if (given[0] === 'cluster' && given.includes('--long')) {
  process.env['PARLEY_CLUSTER_MINUTES'] = '60';
  given.splice(given.indexOf('--long'), 1);
}
// Figures are taken from the package as users install it.
const built = runTool('tsc', ['-p', 'tsconfig.build.json']);
if (built.status !== 0) process.exit(built.status ?? 1);
const files = given.length > 0 ? given.flatMap((name) => GROUPS[name] ?? faults.get(name)?.files ?? [name]) : filesWithFigures();
const { status } = runTool('vitest', ['run', '--no-file-parallelism', ...new Set(files)]);
process.exit(status ?? 1);

/** The rows of docs/faults.md by id. Several ids may share a row, and "the same" stands for the tests of the row above. */
function faultsOfPage() {
  const byId = new Map();
  let before = [];
  for (const line of readFileSync(join(ROOT, 'docs/faults.md'), 'utf8').split('\n')) {
    const [, ids = '', fault = '', outcome = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    if (!/^[A-Z]\d/.test(ids)) continue;
    const linked = [...tests.matchAll(/\]\(([^)]+\.test\.ts)\)/g)].map((match) => normalize(join('docs', match[1])));
    before = tests.startsWith('the same') ? before : linked;
    for (const id of ids.split(', ')) byId.set(id, { fault, outcome, files: before });
  }
  return byId;
}

/** `npm run faults -- fuzz [--minutes N] [--seed S]`: random input to everything that reads bytes of others (docs/faults.md, I8). */
function fuzz(args) {
  const [minutes, seed] = [optionIn(args, '--minutes'), optionIn(args, '--seed')];
  if (minutes !== undefined) process.env['PARLEY_FUZZ_MINUTES'] = minutes;
  if (seed !== undefined) process.env['PARLEY_SEED'] = seed;
  return runTool('vitest', ['run', '--no-file-parallelism', 'test/faults/fuzz.test.ts']).status ?? 1;
}

function optionIn(args, name) {
  return args.includes(name) ? args[args.indexOf(name) + 1] : undefined;
}

/** The faults, and every other test file with a figure or a full size in it. */
function filesWithFigures() {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .filter(
      (name) =>
        name.startsWith('test/faults/') ||
        name.endsWith('/config-keys.test.ts') ||
        /expectFigure|faults\/size\.ts/.test(readFileSync(join(ROOT, name), 'utf8')),
    );
}
