// `npm test`, `npm run test:unit` and `npm run test:all` (CONTRIBUTING.md, "Tests"). After a fresh clone they install the packages first.
// Further arguments go to vitest: `npm test -- src/engine`. Test files that are named run in every tier, and nothing else does.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

const args = process.argv.slice(2);
const tier = args[0] === '--tier' ? args.splice(0, 2)[1] : 'default';
/** `--rest`: `npm test` has run already, as in .ci/run. */
const isRest = args.includes('--rest');
const given = args.filter((arg) => arg !== '--rest');

/** Folders of test/peers. The run fails if one of them is left out. */
const PEERS = ['js', 'go', 'python', 'promptkit', 'society', 'cortex', 'coding-agent', 'sam'];

await ensureInstalled();
// Where Node keeps TypeScript without its types. It strips types by WebAssembly, and V8 may end a process in which several threads load and
// free that (nodejs/node issue 64500), as the threads of a store do.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/compiled');
const steps = stepsOf(tier);
/** Every step appends its failures here, so that the end of a long run names all of them. */
const notes = mkdtempSync(join(tmpdir(), 'parley-tests-'));
process.env.PARLEY_FAILURES = join(notes, 'failures');
let failed = 0;
for (const step of steps) if (step() !== 0) failed += 1;
if (failed > 0 && steps.length > 1) repeatFailures();
rmSync(notes, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);

function stepsOf(name) {
  if (given.some((arg) => /[.]test[.]tsx?$/.test(arg))) return [vitest('')];
  if (name !== 'all') return [vitest(name)];
  return [...(isRest ? [] : [vitest('default')]), consoleFiles, vitest('rest'), codingAgents, peers];
}

function repeatFailures() {
  const file = process.env.PARLEY_FAILURES;
  const lines = existsSync(file) ? readFileSync(file, 'utf8') : 'no test failed: a step itself did (see above)\n';
  console.log(`\n${failed} of ${steps.length} steps failed:\n${lines}`);
}

function vitest(name) {
  return () =>
    runTool('node', [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...given], { env: environment({ PARLEY_TIER: name }) }).status ??
    1;
}

/** Builds the console once. Otherwise every browser test that starts first would build it, at the same time. */
function consoleFiles() {
  return runTool('node', [join(ROOT, 'scripts/build-console.mjs')]).status ?? 1;
}

/** Real coding CLIs, which npm installs into .cache, with a fake model. */
function codingAgents() {
  return runTool('node', [join(ROOT, 'scripts/e2e-agents.mjs'), '--no-write', 'claude', 'gemini', 'qwen']).status ?? 1;
}

/** Other people's programs in whole conversations: SDKs, which are installed into .cache, and players of products. */
function peers() {
  return runTool('node', [join(ROOT, 'scripts/e2e-peers.mjs'), '--no-write', ...PEERS]).status ?? 1;
}

function environment(more) {
  return {
    ...process.env,
    ...more,
    PATH: `${join(ROOT, 'node_modules/.bin')}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}`,
  };
}
