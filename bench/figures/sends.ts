import { createRegistry, DIALECTS, messageId } from '#protocol';
import { newFolder, startBeside, startParley } from '../children.ts';
import type { Load } from '../load.ts';
import { ID_PLACE, requestsPerSecond, runLoad, sendUntilWarm } from '../load.ts';
import type { Rounds } from '../measure.ts';
import { cpuMicros, inTurns, percentile, quartiles, ratios } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

const CONNECTIONS = 32;

/** A request with a small message, in one dialect. */
export function sendIn(id: string): Pick<Load, 'body' | 'version'> {
  const dialect = createRegistry(DIALECTS).byId(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  const text = 'Add a health check endpoint to the service';
  const params = dialect.encode('send.request', { message: { messageId: messageId(ID_PLACE), role: 'ROLE_USER', parts: [{ text }] } });
  return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: dialect.methods.send, params }), version: dialect.wire.versionHeader };
}

const SIDES = ['durable', 'unsearched', 'bare', 'memory', 'sdk'] as const;
type Side = (typeof SIDES)[number];

/** What the rounds of one side have measured, with the warm-up. */
interface Spent {
  readonly micros: number[];
  readonly tookMs: number[];
}

/** Measures blocking sends to the echo agent. */
export async function benchSends({ rounds, warmUp, warmUpSends, leadInMs, ms }: Sizes): Promise<readonly Figure[]> {
  const servers = {
    durable: await startParley('echo', ['--data', newFolder()]),
    unsearched: await startParley('echo', ['--data', newFolder(), '--no-search']),
    sdk: await startBeside('sdk'),
    bare: await startBeside('bare'),
    memory: await startParley('echo', ['--memory']),
  };
  const paths = { durable: '/a2a', unsearched: '/a2a', memory: '/a2a', sdk: '/', bare: '/' };
  const send = sendIn('v10');
  const empty = (): Spent => ({ micros: [], tookMs: [] });
  const spent: Record<Side, Spent> = { durable: empty(), unsearched: empty(), bare: empty(), memory: empty(), sdk: empty() };
  const loadOf = (side: Side): Omit<Load, 'ms'> => ({ url: `${servers[side].url}${paths[side]}`, ...send, connections: CONNECTIONS });
  for (const side of SIDES) await sendUntilWarm(loadOf(side), warmUpSends);
  const rates = await inTurns(SIDES, { rounds, warmUp }, async (side) => {
    const { pid } = servers[side];
    await runLoad({ ...loadOf(side), ms: leadInMs });
    const before = cpuMicros(pid);
    const done = await runLoad({ ...loadOf(side), ms });
    spent[side].micros.push((cpuMicros(pid) - before) / done.count);
    spent[side].tookMs.push(percentile(done.tookMs, 0.99));
    return done.perSecond;
  });
  for (const server of Object.values(servers)) await server.stop();
  return sendFigures(rates, spent);
}

function sendFigures(rates: Rounds<Side>, spent: Readonly<Record<Side, Spent>>): readonly Figure[] {
  const rate = (side: Side): string => `${count(percentile(rates[side], 0.5))}/s`;
  // As the rates: without the warm-up.
  const counted = (all: readonly number[]): readonly number[] => all.slice(-rates.bare.length);
  const micros = (side: Side): string => `${count(percentile(counted(spent[side].micros), 0.5))} µs`;
  const slowest = (side: Side): string => `${percentile(counted(spent[side].tookMs), 0.5).toFixed(1)} ms`;
  const of = (side: Side, other: Side): string => quartiles(ratios(rates, side, other));
  return [
    {
      what: `blocking send, durable, ${CONNECTIONS} connections`,
      value: rate('durable'),
      beside: `SDK in memory on Express ${rate('sdk')}: ${of('durable', 'sdk')} ×`,
      goal: '≥ 3.5 ×',
    },
    { what: '', value: '', beside: `bare node:http ${rate('bare')}: ${of('durable', 'bare')} of it`, goal: '≥ 0.4' },
    {
      what: '',
      value: `${micros('durable')} of processor time`,
      beside: `SDK ${micros('sdk')}, bare ${micros('bare')}, without the search index ${micros('unsearched')}`,
      goal: '≤ 80 µs',
    },
    {
      what: 'the same without the search index',
      value: rate('unsearched'),
      beside: `SDK: ${of('unsearched', 'sdk')} ×; bare: ${of('unsearched', 'bare')} of it`,
      goal: '',
    },
    { what: '', value: '', beside: `with the index: ${of('durable', 'unsearched')} of its rate`, goal: '≥ 0.95' },
    {
      what: 'blocking send, store in memory',
      value: rate('memory'),
      beside: `bare node:http: ${of('memory', 'bare')} of it`,
      goal: '≥ 0.55',
    },
    {
      what: '',
      value: `p99 ${slowest('memory')}, ${micros('memory')} of processor time`,
      beside: `bare: p99 ${slowest('bare')}`,
      goal: 'p99 ≤ 10 ms',
    },
  ];
}

const PATHS = { v10: '/a2a', v03: '/a2a/jsonrpc', v02: '/a2a', v01: '/a2a', society: '/', promptkit: '/a2a', cortex: '/api/a2a' } as const;
const SPOKEN = Object.keys(PATHS) as readonly (keyof typeof PATHS)[];

/** Measures a send in each dialect, compared with a send in 1.0 on the same durable server. */
export async function benchDialects({ rounds, warmUp, ms }: Sizes): Promise<readonly Figure[]> {
  const server = await startParley('echo', ['--data', newFolder()]);
  const rates = await inTurns(SPOKEN, { rounds, warmUp }, (name) =>
    requestsPerSecond({ url: `${server.url}${PATHS[name]}`, ...sendIn(name), connections: CONNECTIONS, ms }),
  );
  await server.stop();
  return SPOKEN.filter((name) => name !== 'v10').map((name) => ({
    what: `send in \`${name}\``,
    value: `${quartiles(ratios(rates, name, 'v10'))} of its rate`,
    beside: `send in \`v10\` ${count(percentile(rates.v10, 0.5))}/s`,
    goal: '≥ 0.9',
  }));
}
