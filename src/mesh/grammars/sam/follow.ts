import type { CallContext, Logged, SendRequest, Task } from '#protocol';
import { A2AError, foldEvent, isInterrupted, isTerminal } from '#protocol';
import type { MeshAgent, MeshContext } from '../grammar.ts';
import { dialectOf } from './dialects.ts';
import { publishAnswer, publishError } from './reply.ts';
import type { SamReplyAddress } from './reply-address.ts';

interface Following {
  readonly agent: MeshAgent;
  readonly place: MeshContext;
  readonly asked: SendRequest;
  readonly ctx: CallContext;
  readonly address: SamReplyAddress;
}

/**
 * Answers for a service that keeps no replies (a proxy without an engine, a mock): its stream is read along, and what it says published.
 * Resolves with its first word; what follows is lost if this process dies.
 */
export async function follow(following: Following): Promise<void> {
  const first = Promise.withResolvers<void>();
  void run(following, first.resolve).then(first.resolve, first.reject);
  await first.promise;
}

async function run({ agent, place, asked, ctx, address }: Following, onFirst: () => void): Promise<void> {
  let hasBegun = false;
  let task: Task | undefined;
  const answer = { agent: agent.name, dialect: ctx.dialect };
  try {
    let held: readonly Logged[] = [];
    for await (const batch of agent.service.stream(asked, ctx)) {
      if (held.length > 0) await publishAnswer({ ...answer, events: held }, address, place);
      for (const { event } of batch) task = foldEvent(task, event);
      held = batch; // the last of all goes out with the task
      if (!hasBegun) onFirst();
      hasBegun = true;
    }
    if (task === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', 'the agent said nothing');
    const isDone = isTerminal(task.status.state) || isInterrupted(task.status.state);
    await publishAnswer({ ...answer, events: held, ...(isDone ? { task } : {}) }, address, place);
  } catch (thrown) {
    if (!hasBegun) throw thrown;
    await publishError(A2AError.from(thrown), { topic: address.replyTo, rpcId: address.rpcId, dialect: dialectOf(ctx.dialect) }, place);
  }
}
