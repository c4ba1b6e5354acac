import type { Figure, Sizes } from '../figures/figure.ts';
import { count } from '../figures/figure.ts';
import { ID_PLACE } from '../load.ts';
import { percentile } from '../measure.ts';
import { loadsAtOnce, warmUpAtOnce } from './load-process.ts';
import type { Replicas } from './nodes.ts';
import { startReplicas } from './nodes.ts';

interface Side {
  readonly p50: number;
  readonly p99: number;
  /** Processor time of all replicas for each send. */
  readonly micros: number;
}

const WARMING_CALLERS = 32;

/** Measures sends to conversations of another replica beside the same sends at their owner. */
export async function forwardedFigures(store: string, { warmUpSends, ms }: Sizes): Promise<readonly Figure[]> {
  const cluster = await startReplicas('echo', store, { count: 2 });
  const [owner = '', entry = ''] = cluster.nodes.map(({ url }) => url);
  const conversations = (many: number): Promise<readonly string[]> =>
    Promise.all(Array.from({ length: many }, () => conversationAt(owner)));
  const warming = { version: '1.0', body: await conversations(WARMING_CALLERS), connections: WARMING_CALLERS, ms };
  for (const url of [owner, entry]) await warmUpAtOnce([{ ...warming, url: `${url}/a2a` }], warmUpSends);
  const figures: Figure[] = [];
  for (const callers of [1, 4]) {
    const bodies = await conversations(callers);
    const measure = (url: string, took: number): Promise<Side> => sideOf(cluster, { url, body: bodies, ms: took });
    for (const url of [owner, entry]) await measure(url, ms);
    const forwarded = await cluster.forwards();
    const local = await measure(owner, 4 * ms);
    const extra = await measure(entry, 4 * ms);
    if ((await cluster.forwards()) === forwarded) throw new Error('no request was forwarded');
    figures.push({
      what: `forwarded send, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
      value: `p50 ${(extra.p50 - local.p50).toFixed(2)} ms more, p99 ${extra.p99.toFixed(1)} ms`,
      beside: `at the owner p50 ${local.p50.toFixed(2)} ms, p99 ${local.p99.toFixed(1)} ms`,
      goal: 'p50 ≤ 1 ms more, p99 ≤ 10 ms',
    });
    figures.push({
      what: '',
      value: `entry and owner ${(extra.micros / local.micros).toFixed(2)} × the processor time of a local send`,
      beside: `${count(extra.micros)} µs; local ${count(local.micros)} µs`,
      goal: '≤ 2 ×',
    });
  }
  await cluster.stop();
  return figures;
}

interface Sending {
  readonly url: string;
  readonly body: readonly string[];
  readonly ms: number;
}

async function sideOf(cluster: Replicas, { url, body, ms }: Sending): Promise<Side> {
  const before = cluster.cpuMicros();
  const [loaded] = await loadsAtOnce([{ url: `${url}/a2a`, version: '1.0', body, connections: body.length, ms }]);
  if (loaded === undefined) throw new Error('nothing was measured');
  const { tookMs, count: sent } = loaded;
  return { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99), micros: (cluster.cpuMicros() - before) / sent };
}

function sendBody(more: object): string {
  const message = { messageId: ID_PLACE, role: 'ROLE_USER', parts: [{ text: 'Add a health check endpoint to the service' }], ...more };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
}

/** Begins a conversation at a replica, which then owns its cell. Returns the body of a request that continues it. */
async function conversationAt(url: string): Promise<string> {
  const response = await fetch(`${url}/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: sendBody({ messageId: `first-${Math.random()}` }),
  });
  const { result } = (await response.json()) as { readonly result: { readonly task: { readonly contextId: string } } };
  return sendBody({ contextId: result.task.contextId });
}
