import { createRegistry, DIALECTS, messageId } from '#protocol';
import { newFolder, startBeside, startParley } from '../children.ts';
import type { Load } from '../load.ts';
import { ID_PLACE, requestsPerSecond } from '../load.ts';
import type { Rounds } from '../measure.ts';
import { inTurns, percentile, quartiles, ratios } from '../measure.ts';
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

/** Measures blocking sends to the echo agent. */
export async function benchSends({ rounds, ms }: Sizes): Promise<readonly Figure[]> {
  const servers = {
    durable: await startParley('echo', ['--data', newFolder()]),
    sdk: await startBeside('sdk'),
    bare: await startBeside('bare'),
    memory: await startParley('echo', ['--memory']),
  };
  const paths = { durable: '/a2a', memory: '/a2a', sdk: '/', bare: '/' };
  const send = sendIn('v10');
  const rates = await inTurns(['durable', 'bare', 'memory', 'sdk'], rounds, (side) =>
    requestsPerSecond({ url: `${servers[side].url}${paths[side]}`, ...send, connections: CONNECTIONS, ms }),
  );
  for (const server of Object.values(servers)) await server.stop();
  return sendFigures(rates);
}

function sendFigures(rates: Rounds<'durable' | 'bare' | 'memory' | 'sdk'>): readonly Figure[] {
  const rate = (side: keyof typeof rates): string => `${count(percentile(rates[side], 0.5))}/s`;
  return [
    {
      what: `blocking send, durable, ${CONNECTIONS} connections`,
      value: rate('durable'),
      beside: `SDK in memory on Express ${rate('sdk')}: ${quartiles(ratios(rates, 'durable', 'sdk'))} ×`,
      goal: '≥ 5 ×',
    },
    { what: '', value: '', beside: `bare node:http ${rate('bare')}: ${quartiles(ratios(rates, 'durable', 'bare'))} of it`, goal: '≥ 0.5' },
    {
      what: 'blocking send, store in memory',
      value: rate('memory'),
      beside: `bare node:http: ${quartiles(ratios(rates, 'memory', 'bare'))} of it`,
      goal: '≥ 0.7',
    },
  ];
}

const PATHS = { v10: '/a2a', v03: '/a2a/jsonrpc', v02: '/a2a', v01: '/a2a', society: '/', promptkit: '/a2a', cortex: '/api/a2a' } as const;
const SPOKEN = Object.keys(PATHS) as readonly (keyof typeof PATHS)[];

/** Measures a send in each dialect, compared with a send in 1.0 on the same durable server. */
export async function benchDialects({ rounds, ms }: Sizes): Promise<readonly Figure[]> {
  const server = await startParley('echo', ['--data', newFolder()]);
  const rates = await inTurns(SPOKEN, rounds, (name) =>
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
