import type { EventStream, Logged, RpcId, Task } from '#protocol';
import { A2AError, foldEvent, isInterrupted, isTerminal } from '#protocol';
import type { MeshContext } from '../grammar.ts';
import { publishAnswer, publishError } from './reply.ts';
import type { MqttReplyAddress } from './reply-address.ts';

interface Following {
  readonly agent: string;
  readonly place: MeshContext;
  readonly address: MqttReplyAddress;
}

/**
 * Publishes what a stream says as it says it: for services that keep no replies, and for those who subscribe to a task. Resolves with the
 * first word; what follows is lost if this process dies, and its reader asks for the task.
 */
export async function follow(events: EventStream, following: Following): Promise<void> {
  const first = Promise.withResolvers<void>();
  void run(events, following, first.resolve).then(first.resolve, first.reject);
  await first.promise;
}

async function run(events: EventStream, { agent, place, address }: Following, onFirst: () => void): Promise<void> {
  let task: Task | undefined;
  let hasBegun = false;
  try {
    let held: readonly Logged[] = [];
    for await (const batch of events) {
      if (held.length > 0) await publishAnswer({ agent, events: held }, address, place);
      for (const { event } of batch) task = event.message === undefined ? foldEvent(task, event) : undefined;
      held = batch; // the last of all goes out with the task
      if (!hasBegun) onFirst();
      hasBegun = true;
    }
    if (!hasBegun) throw new A2AError('INVALID_AGENT_RESPONSE', 'the agent said nothing');
    const isDone = task !== undefined && (isTerminal(task.status.state) || isInterrupted(task.status.state));
    await publishAnswer({ agent, events: held, ...(isDone && task !== undefined ? { task } : {}) }, address, place);
  } catch (thrown) {
    if (!hasBegun) throw thrown;
    await publishError(A2AError.from(thrown), { ...refusalAt(address), agent }, place).catch(() => undefined);
  }
}

function refusalAt({ topic, correlation, rpcId }: MqttReplyAddress): { topic: string; correlation: Uint8Array; rpcId: RpcId } {
  return { topic, correlation, rpcId };
}
