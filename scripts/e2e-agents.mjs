// `npm run e2e:agents [NAME…]`: real coding CLIs from npm against the fake model. Writes the results to docs/coding-agents.md, unless
// `--no-write` is given.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

const CLIS = ['claude', 'gemini', 'qwen', 'codex', 'opencode', 'copilot'];
const CAN = ['streamed answer', 'file edit', 'approval allowed', 'approval denied', 'cancel mid-run', 'session after restart'];
const PAGE = join(ROOT, 'docs/coding-agents.md');
const FOUND = join(ROOT, '.cache/agents/results.json');
const [OPEN, CLOSE] = ['<!-- e2e:agents -->', '<!-- /e2e:agents -->'];

const names = process.argv.slice(2).filter((name) => !name.startsWith('-'));
const unknown = names.filter((name) => !CLIS.includes(name));
const options = process.argv.slice(2).filter((name) => name.startsWith('-') && name !== '--no-write');
if (unknown.length > 0 || options.length > 0) {
  console.error(`There is no ${[...unknown, ...options].join(', ')}. npm run e2e:agents -- [--no-write] [${CLIS.join('] [')}]`);
  process.exit(2);
}

await ensureInstalled();
const { status } = runTool('vitest', ['run', '--config', 'vitest.e2e.config.ts'], {
  env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`, PARLEY_E2E: names.join(',') },
});
if (!process.argv.includes('--no-write') && existsSync(FOUND)) writeTable(JSON.parse(readFileSync(FOUND, 'utf8')));
process.exit(status ?? 1);

/** Keeps the rows of CLIs that did not run this time. */
function writeTable(found) {
  const page = readFileSync(PAGE, 'utf8');
  const [head, rest] = page.split(OPEN);
  const [before, tail] = rest?.split(CLOSE) ?? [];
  if (tail === undefined) throw new Error(`docs/coding-agents.md has no place for the table: ${OPEN} … ${CLOSE}`);
  const rows = new Map(
    before
      .split('\n')
      .map((line) => [/^\| `([^`]+)` \|/.exec(line)?.[1], line])
      .filter(([agent]) => agent !== undefined),
  );
  for (const [agent, { version, ...can }] of Object.entries(found)) {
    rows.set(agent, `| \`${agent}\` | ${version} | ${CAN.map((name) => can[name] ?? '–').join(' | ')} |`);
  }
  const place = ([agent]) => CLIS.findIndex((name) => agent.startsWith(name));
  const lines = [...rows].sort((left, right) => place(left) - place(right)).map(([, line]) => line);
  const header = [`| served as | version | ${CAN.join(' | ')} |`, `|${'---|'.repeat(CAN.length + 2)}`];
  writeFileSync(PAGE, `${head}${OPEN}\n${[...header, ...lines].join('\n')}\n${CLOSE}${tail}`);
}
