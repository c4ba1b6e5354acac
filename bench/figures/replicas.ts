import { availableParallelism } from 'node:os';
import { newFolder, startParley } from '../children.ts';
import type { Load, Loaded } from '../load.ts';
import { cpuMicros, idleMicros, inTurns, percentile, quartiles, ratios } from '../measure.ts';
import { forwardedFigures } from '../replicas/forwarded.ts';
import { loadsAtOnce, warmUpAtOnce } from '../replicas/load-process.ts';
import type { Replicas } from '../replicas/nodes.ts';
import { metricOf, startReplicas } from '../replicas/nodes.ts';
import type { BenchPostgres } from '../replicas/postgres.ts';
import { startPostgres } from '../replicas/postgres.ts';
import { takeoverFigures } from '../replicas/takeover.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';
import { sendIn } from './sends.ts';
import { streamOnce } from './streams.ts';

const CALLERS = [32, 128];
const COUNTS = [1, 2, 4, 8];
/** Callers of each replica. */
const CALLERS_EACH = 64;

/** Measures nodes on Postgres: one beside SQLite, several at once, forwarded requests, and takeover. */
export async function benchReplicas(sizes: Sizes): Promise<readonly Figure[]> {
  const postgres = await startPostgres();
  const isQuick = sizes.rounds <= 3;
  try {
    return [
      ...(await oneReplica(postgres, sizes)),
      ...(await oneStream(postgres, sizes)),
      ...(await manyReplicas(postgres, sizes, isQuick ? [1, 2] : COUNTS)),
      ...(await forwardedFigures(await postgres.database(), sizes)),
      ...(await takeoverFigures(() => postgres.database(), isQuick ? [2000] : [10_000, 2000])),
    ];
  } finally {
    await postgres.stop();
  }
}

/** With cores to spare, two client processes share the callers of one server. */
function clientsOf(load: Load): readonly Load[] {
  const clients = availableParallelism() >= 8 ? 2 : 1;
  return Array.from({ length: clients }, () => ({ ...load, connections: load.connections / clients }));
}

function perSecond(loaded: readonly Loaded[]): number {
  return loaded.reduce((sum, each) => sum + each.perSecond, 0);
}

function sends(loaded: readonly Loaded[]): number {
  return loaded.reduce((sum, each) => sum + each.count, 0);
}

async function oneReplica(postgres: BenchPostgres, { rounds, warmUpSends, ms }: Sizes): Promise<readonly Figure[]> {
  const servers = {
    sqlite: await startParley('echo', ['--data', newFolder()]),
    postgres: await startParley('echo', ['--data', newFolder(), '--store', await postgres.database()]),
  };
  // The server counts reads as commits, too.
  const commits = (): Promise<number> => metricOf(servers.postgres, 'parley_commits_total');
  const loadOf = (side: keyof typeof servers, connections: number): readonly Load[] =>
    clientsOf({ url: `${servers[side].url}/a2a`, ...sendIn('v10'), connections, ms });
  for (const side of ['sqlite', 'postgres'] as const) await warmUpAtOnce(loadOf(side, CALLERS_EACH), warmUpSends);
  const figures: Figure[] = [];
  for (const connections of CALLERS) {
    const load = (side: keyof typeof servers): readonly Load[] => loadOf(side, connections);
    const rates = await inTurns(['sqlite', 'postgres'], { rounds }, async (side) => perSecond(await loadsAtOnce(load(side))));
    const before = { database: postgres.cpuMicros(), node: cpuMicros(servers.postgres.pid), commits: await commits() };
    const made = sends(await loadsAtOnce(load('postgres').map((one) => ({ ...one, ms: 3 * ms }))));
    const spent = { database: postgres.cpuMicros() - before.database, node: cpuMicros(servers.postgres.pid) - before.node };
    const group = made / ((await commits()) - before.commits);
    figures.push(
      {
        what: `blocking send, durable, one replica on Postgres, ${connections} callers`,
        value: `${quartiles(ratios(rates, 'postgres', 'sqlite'))} of SQLite's rate`,
        beside: `${count(percentile(rates.postgres, 0.5))}/s; SQLite ${count(percentile(rates.sqlite, 0.5))}/s`,
        goal: '≥ 0.7',
      },
      {
        what: '',
        value: `Postgres ${count(spent.database / made)} µs of processor time a send`,
        beside: `the node ${count(spent.node / made)} µs; ${group.toFixed(1)} sends in a commit`,
        goal: '≤ 60 µs at groups of 32 or more',
      },
    );
  }
  for (const server of Object.values(servers)) await server.stop();
  return figures;
}

async function oneStream(postgres: BenchPostgres, { rounds, streams }: Sizes): Promise<readonly Figure[]> {
  const servers = {
    sqlite: await startParley('script', ['--data', newFolder()]),
    postgres: await startParley('script', ['--data', newFolder(), '--store', await postgres.database()]),
  };
  const chunks = streams.at(-1) ?? 16_000;
  const rates = await inTurns(
    ['sqlite', 'postgres'],
    { rounds: Math.min(rounds, 5) },
    async (side) => (await streamOnce(`${servers[side].url}/a2a`, chunks)).perSecond,
  );
  for (const server of Object.values(servers)) await server.stop();
  return [
    {
      what: `one stream of ${count(chunks)} chunks on Postgres`,
      value: `${quartiles(rates.postgres, 0)} events/s`,
      beside: `SQLite ${quartiles(rates.sqlite, 0)} events/s`,
      goal: '≥ 100,000/s',
    },
  ];
}

interface Scaled {
  readonly replicas: number;
  readonly rate: number;
  readonly nodeMicros: number;
  readonly databaseMicros: number;
  /** The share of all cores that was in use. */
  readonly machine: number;
  readonly forwarded: number;
  readonly sends: number;
}

async function manyReplicas(postgres: BenchPostgres, sizes: Sizes, counts: readonly number[]): Promise<readonly Figure[]> {
  const measured: Scaled[] = [];
  for (const replicas of counts) {
    const cluster = await startReplicas('echo', await postgres.database(), { count: replicas });
    await warmUpAtOnce(loadsOf(cluster, sizes.ms), Math.max(1, sizes.warmUpSends * replicas));
    measured.push(await scaled(cluster, postgres, 5 * sizes.ms));
    await cluster.stop();
  }
  const [one] = measured;
  const sumOf = (each: 'sends' | 'forwarded'): number => measured.reduce((sum, scale) => sum + scale[each], 0);
  return [
    ...measured.map(
      (each): Figure => ({
        what: `${each.replicas} ${each.replicas === 1 ? 'replica' : 'replicas'}, ${CALLERS_EACH} callers each`,
        value: `${count(each.rate)} sends/s: ${(each.rate / (one?.rate ?? 1) / each.replicas).toFixed(2)} × ${each.replicas} × one replica`,
        beside: `a send: replicas ${count(each.nodeMicros)} µs, Postgres ${count(each.databaseMicros)} µs of processor time; ${Math.round(each.machine * 100)} % of ${availableParallelism()} cores in use`,
        goal: each.replicas === 1 ? '' : each.replicas <= 4 ? '≥ 0.75' : '≥ 0.6',
      }),
    ),
    {
      what: 'sends without a task or context that are forwarded, half of them with an Idempotency-Key',
      value: `${sumOf('forwarded')} of ${count(sumOf('sends'))}`,
      beside: '',
      goal: '0',
    },
  ];
}

/** Each replica has a client process of its own. Every second one sends an Idempotency-Key. */
function loadsOf({ nodes }: Replicas, ms: number): readonly Load[] {
  return nodes.flatMap(({ url }) =>
    [{}, { keyed: true }].map((more) => ({ url: `${url}/a2a`, ...sendIn('v10'), connections: CALLERS_EACH / 2, ms, ...more })),
  );
}

async function scaled(cluster: Replicas, postgres: BenchPostgres, ms: number): Promise<Scaled> {
  const before = { node: cluster.cpuMicros(), database: postgres.cpuMicros(), forwards: await cluster.forwards(), at: process.hrtime() };
  const idle = idleMicros();
  const loaded = await loadsAtOnce(loadsOf(cluster, ms));
  const made = sends(loaded);
  const [seconds, nanos] = process.hrtime(before.at);
  const passed = (seconds * 1e6 + nanos / 1000) * availableParallelism();
  return {
    replicas: cluster.nodes.length,
    rate: perSecond(loaded),
    nodeMicros: (cluster.cpuMicros() - before.node) / made,
    databaseMicros: (postgres.cpuMicros() - before.database) / made,
    machine: 1 - (idleMicros() - idle) / passed,
    forwarded: (await cluster.forwards()) - before.forwards,
    sends: made,
  };
}
