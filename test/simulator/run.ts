import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { DEFECTS } from './defects.ts';
import { Totals } from './report.ts';
import type { SeedRun } from './seeds.ts';
import { runSeeds } from './seeds.ts';
import type { SeedResult } from './world.ts';
import { simulate } from './world.ts';

const HELP = `npm run simulate -- [--seeds N] [--from N] [--jobs N]   run seeds (default 1000, from 1) on N cores (default: all), and print what happened how often.
                                                           Ctrl-C ends it early, and tells where to continue
npm run simulate -- --seed N [--trace]                     run one seed, and print each step
npm run simulate -- --defects [--write]                    plant each known defect, and print after how many seeds it is found
`;
const PAGE = new URL('../../docs/replicas-invariants.md', import.meta.url);
const DEFECT_SEEDS = 1000;
const PROGRESS = 500;

process.exitCode = await main();

async function main(): Promise<number> {
  const values = givenOptions();
  if (values instanceof Error) {
    process.stderr.write(`${values.message}\n\n${HELP}`);
    return 2;
  }
  if (values.help) return print(HELP, 0);
  if (values.defects) return findDefects(values.write);
  const { seed, from, seeds, jobs } = values;
  if (seed !== undefined) {
    const result = await simulate(seed, undefined, values.trace ? (line) => process.stdout.write(`${line}\n`) : undefined);
    const totals = new Totals();
    totals.add(result);
    return print(totals.report(), result.violation === undefined ? 0 : 1);
  }
  return await runMany({ from, seeds, jobs });
}

/** The options, or what is wrong with them. */
function givenOptions() {
  try {
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
    const seed = values.seed === undefined ? undefined : wholeNumber('seed', values.seed);
    const [seeds, from, jobs] = [wholeNumber('seeds', values.seeds), wholeNumber('from', values.from), wholeNumber('jobs', values.jobs)];
    return { ...values, seed, seeds, from, jobs };
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1, and is "${text}"`);
  return Number(text);
}

/** Tells on standard error how far it is, and which seeds have failed. Ctrl-C ends it with a report on what is done. */
async function runMany(range: Omit<SeedRun, 'onResult' | 'signal'>): Promise<number> {
  const totals = new Totals();
  const began = performance.now();
  const onResult = (result: SeedResult): void => {
    totals.add(result);
    const { violation, seed } = result;
    if (violation !== undefined) process.stderr.write(`seed ${seed}: ${violation.invariant}: ${violation.what}\n`);
    if (totals.seeds % PROGRESS === 0) process.stderr.write(`${totals.progress(range.seeds, performance.now() - began)}\n`);
  };
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  await runSeeds({ ...range, onResult, signal: ending.signal });
  const isWhole = totals.seeds === range.seeds;
  const rest = isWhole ? '' : `Continue: npm run simulate -- --from ${range.from + totals.seeds} --seeds ${range.seeds - totals.seeds}\n`;
  return print(totals.report() + rest, totals.failed.length === 0 && isWhole ? 0 : 1);
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
