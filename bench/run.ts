import { parseArgs } from 'node:util';
import { cleanUp } from './children.ts';
import { benchCodecs } from './codec.ts';
import { within } from './deadline.ts';
import type { Figure, Sizes } from './figures/figure.ts';
import { FULL, QUICK } from './figures/figure.ts';
import { codecTable, figureTable, machine, writeSection } from './report.ts';

type Measuring = (sizes: Sizes) => Promise<readonly Figure[]>;

/** The measurements of each section of docs/benchmarks.md. Each is loaded when it runs: some need packages that others do not. */
const SECTIONS: Readonly<Record<string, Readonly<Record<string, Measuring>>>> = {
  server: {
    sends: async (sizes) => (await import('./figures/sends.ts')).benchSends(sizes),
    dialects: async (sizes) => (await import('./figures/sends.ts')).benchDialects(sizes),
    streams: async (sizes) => (await import('./figures/streams.ts')).benchStreams(sizes),
    subscribers: async (sizes) => (await import('./figures/subscribers.ts')).benchSubscribers(sizes),
    lists: async (sizes) => (await import('./figures/lists.ts')).benchLists(sizes),
    search: async (sizes) => (await import('./figures/search.ts')).benchSearch(sizes),
    start: async (sizes) => (await import('./figures/start.ts')).benchStart(sizes),
  },
  disk: { disk: async (sizes) => (await import('./figures/disk.ts')).benchDisk(sizes) },
  replicas: { replicas: async (sizes) => (await import('./figures/replicas.ts')).benchReplicas(sizes) },
  sdks: { sdks: async (sizes) => (await import('./figures/sdks.ts')).benchSdks(sizes) },
  grpc: { grpc: async (sizes) => (await import('./figures/grpc.ts')).benchGrpc(sizes) },
  client: { client: async (sizes) => (await import('./figures/client.ts')).benchClient(sizes) },
  access: { access: async (sizes) => (await import('./figures/access.ts')).benchAccess(sizes) },
  mesh: { mesh: async (sizes) => (await import('./figures/mesh.ts')).benchMesh(sizes) },
  agents: { agents: async (sizes) => (await import('./figures/agents.ts')).benchAgents(sizes) },
  console: { console: async (sizes) => (await import('./figures/console.ts')).benchConsole(sizes) },
};
const NAMES = ['codec', ...Object.values(SECTIONS).flatMap((section) => Object.keys(section))];
const USAGE = `npm run bench -- [--only NAME,…] [--quick] [--write] [--json]

  --only    some of: ${NAMES.join(', ')} (default: all)
  --quick   a small run that shows that everything works; its figures mean little
  --rounds  rounds of each comparison
  --tasks   how many tasks lists and searches have (default: 1,000,000)
  --write   puts the tables into docs/benchmarks.md
  --json    one line of JSON per figure

Server figures need the built package: npm run build`;

const FIGURE_MS_MAX = 400_000;
/** The first run writes a million tasks, and for searches indexes them. */
const MILLION_MS_MAX = 3_600_000;
/** Takeovers wait for leases. */
const REPLICAS_MS_MAX = 900_000;
/** 30,000 sends to each of five servers, before they are measured. */
const SENDS_MS_MAX = 900_000;
const LONG: Readonly<Record<string, number>> = {
  sends: SENDS_MS_MAX,
  lists: MILLION_MS_MAX,
  search: MILLION_MS_MAX,
  replicas: REPLICAS_MS_MAX,
};

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    tasks: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
process.once('exit', cleanUp);
await main();
process.exit();

async function main(): Promise<void> {
  const only = values.only?.split(',') ?? NAMES;
  const unknown = only.filter((name) => !NAMES.includes(name));
  if (values.help || unknown.length > 0) {
    console.error(unknown.length > 0 ? `unknown names: ${unknown.join(', ')}\n\n${USAGE}` : USAGE);
    process.exitCode = unknown.length > 0 ? 2 : 0;
    return;
  }
  const sizes = sizesOf();
  if (only.includes('codec')) codecs(sizes);
  for (const [section, figures] of Object.entries(SECTIONS)) {
    const measured: Figure[] = [];
    for (const [name, measure] of Object.entries(figures).filter(([each]) => only.includes(each))) {
      const found = await attempt(name, within(LONG[name] ?? FIGURE_MS_MAX, name, measure(sizes)));
      print(found);
      measured.push(...found);
    }
    if (values.write && measured.length > 0) writeSection(section, `${figureTable(measured)}\n\n${machine(sizes.rounds)}`);
  }
}

function sizesOf(): Sizes {
  const sizes = values.quick ? QUICK : FULL;
  const rounds = Number(values.rounds ?? sizes.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new TypeError('--rounds must be a whole number of at least 1');
  const listed = Number(values.tasks ?? sizes.listed);
  if (!Number.isInteger(listed) || listed < 1000) throw new TypeError('--tasks must be a whole number of at least 1000');
  return { ...sizes, rounds, listed };
}

function codecs({ rounds }: Sizes): void {
  const rows = benchCodecs(rounds * 15);
  if (values.json) for (const row of rows) console.log(JSON.stringify(row));
  else console.log(`${codecTable(rows)}\n`);
  if (values.write) writeSection('codec', `${codecTable(rows)}\n\n${machine(rounds)}`);
}

/** A measurement that fails does not stop the others, but the exit code is 1. */
async function attempt(name: string, measuring: Promise<readonly Figure[]>): Promise<readonly Figure[]> {
  try {
    return await measuring;
  } catch (thrown) {
    process.exitCode = 1;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    console.error(`${name}: ${why}`);
    return [{ what: name, value: 'could not be measured', beside: why.split('\n')[0] ?? '', goal: '' }];
  } finally {
    cleanUp();
  }
}

function print(figures: readonly Figure[]): void {
  if (values.json) for (const figure of figures) console.log(JSON.stringify(figure));
  else console.log(`${figureTable(figures)}\n`);
}
