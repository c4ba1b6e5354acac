import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DEFECTS } from './defects.ts';
import { reportOf } from './report.ts';
import { runSeeds } from './seeds.ts';
import type { SeedResult } from './world.ts';
import { simulate } from './world.ts';

const HELP = `npm run simulate -- [--seeds N] [--from N] [--workers N]   run seeds (default 1000, from 1), and print what happened how often
npm run simulate -- --seed N [--trace]                     run one seed, and print each step
npm run simulate -- --defects [--write]                    plant each known defect, and print after how many seeds it is found
`;
const PAGE = new URL('../../docs/replicas-invariants.md', import.meta.url);
const DEFECT_SEEDS = 1000;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      workers: { type: 'string', default: '2' },
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
    return print(reportOf([result]), result.violation === undefined ? 0 : 1);
  }
  const results = await runSeeds(Number(values.from), Number(values.seeds), Number(values.workers));
  const failed = results.filter(({ violation }) => violation !== undefined);
  return print(reportOf(results), failed.length === 0 ? 0 : 1);
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
