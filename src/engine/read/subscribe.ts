import type { EventStream, SubscribeRequest } from '#protocol';
import { A2AError, isTerminal } from '#protocol';
import type { Agents } from '../agents.ts';
import { checkStreaming } from '../agents.ts';
import type { FindParts, TaskRequest } from './find.ts';
import { findTask } from './find.ts';
import type { EventBatch, FollowedTask, FollowParts } from './follower.ts';
import { Follower } from './follower.ts';

export interface SubscribeParts extends FollowParts, FindParts {
  readonly commits: FollowParts['commits'] & FindParts['commits'];
  readonly store: FollowParts['store'] & FindParts['store'];
  readonly agents: Agents;
}

type Subscription = TaskRequest & { readonly request: SubscribeRequest };

/**
 * Streams a task from its current state, or from any earlier sequence number: first the task as it was
 * there, then every later event, none missing and none twice. A finished task is an error (A2A 1.0.1
 * §3.1.6), unless the caller names a sequence number or its dialect shows finished tasks.
 */
export function subscribe(parts: SubscribeParts, asked: Subscription): EventStream & AsyncGenerator<EventBatch> {
  return new Follower(parts, { open: () => openSubscription(parts, asked), isHeld: true });
}

/** Finds the task and decides where the stream starts. A position that is not in the log counts as none. */
async function openSubscription(parts: SubscribeParts, asked: Subscription): Promise<FollowedTask> {
  const { request, ctx, agent } = asked;
  checkStreaming(parts.agents, agent);
  const task = await findTask(parts, asked);
  const { after } = request;
  const from = after !== undefined && Number.isInteger(after) && after >= 1 && after <= task.committed ? after : undefined;
  const names = ctx.semantics;
  const isFinished = isTerminal(task.row.state) && task.committed >= task.row.last;
  if (from === undefined && isFinished && names?.showsFinished !== true) {
    task.release();
    throw new A2AError('UNSUPPORTED_OPERATION', `task ${request.id} is finished: it has no further events`);
  }
  const endsOnQuestion = names?.subscriptionEndsOnQuestion === true;
  return { task, options: { from: from ?? task.committed, names, signal: ctx.signal, endsOnQuestion } };
}
