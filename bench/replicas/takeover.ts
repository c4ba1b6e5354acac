import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../deadline.ts';
import type { Figure } from '../figures/figure.ts';
import { startReplicas } from './nodes.ts';

const BEFORE_KILL_MS = 2000;
/** What arrives sooner after the kill was on its way before it. */
const ON_ITS_WAY_MS = 200;

/** Measures the time from SIGKILL of an owner to the first event of its task that another replica has resumed. */
export async function takeoverFigures(database: () => Promise<string>, leases: readonly number[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const leaseMs of leases) {
    const took: number[] = [];
    for (let round = 0; round < 3; round += 1) took.push(await within(120_000, 'a takeover', takeover(await database(), leaseMs)));
    const goal = leaseMs >= 10_000 ? '≤ 13 s' : '≤ 4 s';
    const seconds = took.map((ms) => (ms / 1000).toFixed(1)).join(', ');
    figures.push({
      what: `takeover with a lease of ${leaseMs / 1000} s: SIGKILL to the next event`,
      value: `${seconds} s`,
      beside: '',
      goal,
    });
  }
  return figures;
}

async function takeover(store: string, leaseMs: number): Promise<number> {
  const cluster = await startReplicas('script', store, { count: 2, leaseMs });
  const [owner, other] = cluster.nodes;
  if (owner === undefined || other === undefined) throw new Error('two replicas are needed');
  const id = await startTask(owner.url);
  const response = await fetch(`${other.url}/tasks/${id}:subscribe`, { method: 'POST', headers: { Accept: 'text/event-stream' } });
  const arrived: number[] = [];
  const reading = (async () => {
    for await (const piece of response.body ?? []) if (piece.length > 0) arrived.push(performance.now());
  })();
  await sleep(BEFORE_KILL_MS);
  if (arrived.length === 0) throw new Error('the stream has no events');
  const killedAt = performance.now();
  owner.kill();
  let next: number | undefined;
  while (next === undefined) {
    await sleep(5);
    next = arrived.find((at) => at > killedAt + ON_ITS_WAY_MS);
  }
  void reading.catch(() => undefined);
  other.kill();
  return next - killedAt;
}

/** A task that outputs a chunk each 20 ms, for longer than a takeover takes. Its agent resumes. */
async function startTask(url: string): Promise<string> {
  const message = { messageId: `takeover-${Math.random()}`, role: 'ROLE_USER', parts: [{ text: 'chunks=6000 delay=20' }] };
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
  });
  const { task } = (await response.json()) as { readonly task: { readonly id: string } };
  return task.id;
}
