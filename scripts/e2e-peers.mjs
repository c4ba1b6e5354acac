// `npm run e2e:peers [NAME…]`: other people's programs in whole conversations with ours. Installs them into .cache and writes the matrix into
// docs/interop.md, unless `--no-write` is given.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

const PAGE = join(ROOT, 'docs/interop.md');
const FOUND = join(ROOT, '.cache/peers/results.json');
const [OPEN, CLOSE] = ['<!-- e2e:peers -->', '<!-- /e2e:peers -->'];

/** Frameworks with telemetry. They are installed first, and then run without a network but loopback. */
const OFFLINE = ['adk', 'pydantic', 'strands', 'crewai', 'agent-framework', 'langgraph'];
const LOOPBACK_ONLY = ['unshare', '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

const args = process.argv.slice(2);
const given = args.filter((name) => !name.startsWith('-'));
const folder = join(ROOT, 'test/peers');
const known = readdirSync(folder).filter((name) => existsSync(join(folder, name, `${name}.peer.ts`)));
const names = given.length === 0 ? known : given;
await ensureInstalled();
const absent = names.filter((name) => !known.includes(name));
for (const name of absent) process.stderr.write(`e2e:peers: there is no peer ${name} in test/peers\n`);
let failed = absent.length;
for (const isOffline of [false, true]) {
  const group = names.filter((name) => known.includes(name) && OFFLINE.includes(name) === isOffline);
  if (group.length > 0 && runPeers(group, isOffline) !== 0) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);

function runPeers(group, isOffline) {
  const env = { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` };
  const command = ['vitest', 'run', '--config', 'vitest.peers.config.ts', ...group.map((name) => `test/peers/${name}/`)];
  if (isOffline) runTool('node', ['--conditions=our-src', 'test/peers/frameworks/install.ts', ...group], { env });
  const [program, ...rest] = [...(isOffline ? offlineCommand() : []), ...command];
  const { status } = spawnSync(program, rest, { cwd: ROOT, stdio: 'inherit', env });
  if (!args.includes('--no-write')) writeMatrix(JSON.parse(readFileSync(FOUND, 'utf8')));
  return status ?? 1;
}

/** Where a user may not make a network namespace, the frameworks run with their telemetry turned off by its settings only. */
function offlineCommand() {
  const [program, ...rest] = [...LOOPBACK_ONLY, 'true'];
  if (spawnSync(program, rest).status === 0) return LOOPBACK_ONLY;
  process.stderr.write('e2e:peers: no network namespace can be made here; telemetry is off by settings only\n');
  return [];
}

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
  for (const [title, found] of Map.groupBy(tests, ({ ancestorTitles }) => ancestorTitles[0])) {
    const [peer, missing] = title.split(/ \[needs (.*)\]$/);
    const failed = found.filter((test) => test.status === 'failed').map((test) => test.title);
    const passed = found.filter((test) => test.status === 'passed').length;
    const left = found.every((test) => test.status === 'skipped')
      ? `left out: ${missing ?? 'its package'} could not be installed`
      : failed.join('; ') || 'none';
    rows.set(peer, `| ${peer} | ${passed} of ${found.length} | ${left} |`);
  }
  const table = ['| peer | conversations that work | those that do not |', '|---|---|---|', ...[...rows.values()].sort()];
  writeFileSync(PAGE, `${head}${OPEN}\n${table.join('\n')}\n${CLOSE}${tail}`);
}
