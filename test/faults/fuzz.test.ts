import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { programOf } from '../support/brokers.ts';
import { expectFigure } from '../support/figures.ts';
import { suiteNeeding } from '../support/needs.ts';
import { scratchFolder } from '../support/scratch.ts';
import { brokerSurfaces } from './fuzz/brokers.ts';
import { httpSurfaces } from './fuzz/http.ts';
import { sseSurface } from './fuzz/sse.ts';
import { stdioSurface } from './fuzz/stdio.ts';
import type { FuzzCase, FuzzSurface } from './fuzz/surface.ts';
import { times } from './size.ts';

/**
 * faults.md I8. `npm run faults -- fuzz [--minutes N] [--seed S]`. Without minutes, a fixed number of rounds. A failure is shrunk and
 * printed with its seed and path, which repeat it; add its case to `fuzz/corpus/`, which every run sends first.
 */
const MINUTES = Number(process.env['PARLEY_FUZZ_MINUTES'] ?? 0);
const SEED = Number(process.env['PARLEY_SEED'] ?? 7);
const ROUNDS = times(2, 40);
const ROUND_RUNS = 40;
const REPORT_MS = 30_000;
/** From source, as in I1. */
const RSS_MIB_MAX = 768;

const IS_READY = process.platform === 'linux' && programOf('mosquitto') !== undefined && programOf('nats-server') !== undefined;
const open: FuzzSurface[] = [];
afterAll(() => Promise.all(open.map((surface) => surface.close())));

suiteNeeding('Linux, mosquitto and nats-server', IS_READY, 'I8: fuzzing', () => {
  it('finds no crash, no 5xx, no hang and no task of a refused input', { timeout: 24 * 3_600_000 }, async () => {
    const folder = scratchFolder();
    open.push(...(await httpSurfaces(`${folder}/http`)), await sseSurface(), ...(await brokerSurfaces(folder)), await stdioSurface());
    await sendCorpus();
    const figures = new Map(open.map(({ name }): [string, FuzzFigures] => [name, { sent: 0, mostMib: 0 }]));
    await untilEnd(async (round) => {
      for (const surface of open) {
        const failure = await fuzzed(surface, SEED + round);
        if (failure !== undefined) throw new Error(failure);
        const { sent = 0, mostMib = 0 } = figures.get(surface.name) ?? {};
        figures.set(surface.name, { sent: sent + ROUND_RUNS, mostMib: Math.max(mostMib, surface.rssMib()) });
      }
      return figures;
    });
    report('end', figures);
    for (const { sent, mostMib } of figures.values()) {
      expect(sent).toBeGreaterThan(0);
      expectFigure(mostMib, { below: RSS_MIB_MAX });
    }
  });
});

interface FuzzFigures {
  readonly sent: number;
  readonly mostMib: number;
}

async function sendCorpus(): Promise<void> {
  for (const surface of open) {
    for (const input of corpusOf(surface.name)) await surface.send(input);
    await surface.check();
  }
}

/** Rounds for so many minutes, or a fixed number of them, with a line about the progress now and then. */
async function untilEnd(play: (round: number) => Promise<ReadonlyMap<string, FuzzFigures>>): Promise<void> {
  const deadline = Date.now() + MINUTES * 60_000;
  let reportedAt = Date.now();
  for (let round = 0; MINUTES > 0 ? Date.now() < deadline : round < ROUNDS; round += 1) {
    const figures = await play(round);
    if (Date.now() - reportedAt < REPORT_MS) continue;
    reportedAt = Date.now();
    report(`round ${round}`, figures);
  }
}

/** The description of the first failure. */
async function fuzzed(surface: FuzzSurface, seed: number): Promise<string | undefined> {
  const property = fc.asyncProperty(surface.cases, (input) => surface.send(input));
  const run = await fc.check(property, { seed, numRuns: ROUND_RUNS, interruptAfterTimeLimit: 600_000 });
  if (run.failed && run.counterexample !== null) {
    const why = run.errorInstance instanceof Error ? run.errorInstance.message : String(run.errorInstance);
    keep(surface.name, run.counterexample[0]);
    return `${surface.name}: ${why}; seed ${seed}, path ${run.counterexamplePath}: ${JSON.stringify(run.counterexample[0]).slice(0, 3000)}`;
  }
  try {
    await surface.check();
    return undefined;
  } catch (thrown) {
    return `${surface.name}, after the round with seed ${seed}: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

/** With PARLEY_FUZZ_KEEP, a failure goes into that folder as a file that can be added to the corpus. */
function keep(name: string, input: FuzzCase): void {
  const folder = process.env['PARLEY_FUZZ_KEEP'];
  if (folder !== undefined) writeFileSync(`${folder}/${name}-${Date.now()}.json`, `${JSON.stringify(input)}\n`);
}

function corpusOf(name: string): readonly FuzzCase[] {
  return JSON.parse(readFileSync(new URL(`fuzz/corpus/${name}.json`, import.meta.url), 'utf8')) as readonly FuzzCase[];
}

function report(when: string, figures: ReadonlyMap<string, FuzzFigures>): void {
  const each = [...figures].map(([name, { sent, mostMib }]) => `${name} ${sent} (${Math.round(mostMib)} MiB)`).join(', ');
  process.stdout.write(`fuzz, ${when}, seed ${SEED}: ${each}\n`);
}
