import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { DEFECTS } from './defects.ts';
import { Totals } from './report.ts';
import type { SeedRun } from './seeds.ts';
import { runSeeds } from './seeds.ts';
import type { SeedResult } from './world.ts';
import { simulate } from './world.ts';

const HELP = `npm run simulate -- [--seeds N] [--from N] [--jobs N]   run seeds (default 1000, from 1) on N cores (default: all), and print what happened how often
npm run simulate -- --seed N [--trace]                     run one seed, and print each step
npm run simulate -- --defects [--write]                    plant each known defect, and print after how many seeds it is found
`;
const PAGE = new URL('../../docs/replicas-invariants.md', import.meta.url);
const DEFECT_SEEDS = 1000;
const PROGRESS = 1000;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      seed: { type: 'string' },
      trace: { type: 'boolean', default: false },
      defects: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return print(HELP, 0);
  if (values.defects) return findDefects(values.write);
  if (values.seed !== undefined) {
    const result = await simulate(Number(values.seed), undefined, values.trace ? (line) => process.stdout.write(`${line}\n`) : undefined);
    const totals = new Totals();
    totals.add(result);
    return print(totals.report(), result.violation === undefined ? 0 : 1);
  }
  return await runMany({ from: Number(values.from), seeds: Number(values.seeds), jobs: Number(values.jobs) });
}

/** Tells on standard error how far it is, and which seeds have failed. */
async function runMany(range: Omit<SeedRun, 'onResult'>): Promise<number> {
  const totals = new Totals();
  const onResult = (result: SeedResult): void => {
    totals.add(result);
    const { violation, seed } = result;
    if (violation !== undefined) process.stderr.write(`seed ${seed}: ${violation.invariant}: ${violation.what}\n`);
    if (totals.seeds % PROGRESS === 0) process.stderr.write(`${totals.seeds} of ${range.seeds} seeds, ${totals.failed.length} failed\n`);
  };
  await runSeeds({ ...range, onResult });
  return print(totals.report(), totals.failed.length === 0 && totals.seeds === range.seeds ? 0 : 1);
}

function print(text: string, code: number): number {
  process.stdout.write(text);
  return code;
}

/** How many seeds it takes to find each planted defect. */
async function findDefects(isWritten: boolean): Promise<number> {
  const rows = ['| planted defect | found with seed | by |', '|---|---|---|'];
  let missed = 0;
  for (const [name, defect] of Object.entries(DEFECTS)) {
    let found: SeedResult | undefined;
    for (let seed = 1; seed <= DEFECT_SEEDS && found === undefined; seed += 1) {
      const result = await simulate(seed, defect);
      if (result.violation !== undefined) found = result;
    }
    if (found === undefined) missed += 1;
    const row = found === undefined ? 'not found | – |' : `${found.seed} | \`${found.violation?.invariant}\` |`;
    rows.push(`| ${name} | ${row}`);
    process.stdout.write(`${rows.at(-1)}\n`);
  }
  if (isWritten) {
    const page = readFileSync(PAGE, 'utf8');
    writeFileSync(PAGE, page.replace(/(<!-- defects -->\n)[\s\S]*(<!-- end of defects -->)/, `$1\n${rows.join('\n')}\n\n$2`));
  }
  return missed === 0 ? 0 : 1;
}
