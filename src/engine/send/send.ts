import type { CallContext, EventStream, Logged, SendRequest, SendResult, Seq, Task } from '#protocol';
import { A2AError } from '#protocol';
import type { Agents } from '../agents.ts';
import { checkStreaming } from '../agents.ts';
import { checkLease } from '../lease.ts';
import type { EngineLimits } from '../limits.ts';
import type { Store } from '../ports.ts';
import { foldTo, withHistory } from '../read/fold.ts';
import type { FollowParts } from '../read/follower.ts';
import { follow } from '../read/follower.ts';
import { nameFor, renameTask } from '../read/task-names.ts';
import { ownerOf } from '../tasks/keys.ts';
import type { AcceptedMessage, LiveTask, Sender } from '../tasks/live-task.ts';
import type { AgentFacts, SendCall } from './call.ts';
import { sendClaimed } from './claimed.ts';
import type { IdempotencyParts } from './idempotency.ts';
import { deliveryMark, identityOf, sendOnce } from './idempotency.ts';
import { replyAgain } from './reply.ts';

/** What a send needs of the engine. */
export interface SendParts extends IdempotencyParts, FollowParts {
  readonly store: IdempotencyParts['store'] & FollowParts['store'] & Pick<Store, 'claim' | 'lease'>;
  readonly commits: IdempotencyParts['commits'] & FollowParts['commits'];
  readonly agents: Agents;
  readonly limits: EngineLimits;
}

interface SendArguments {
  readonly request: SendRequest;
  readonly ctx: CallContext;
}

/** Answers when the agent has dealt with the message, or with `returnImmediately` as soon as the message is durable. */
export async function send(parts: SendParts, facts: AgentFacts, { request, ctx }: SendArguments): Promise<SendResult> {
  if (parts.store.lease !== undefined) checkLease(parts.store.lease);
  const call: SendCall = { request, ctx, facts, owner: ownerOf(ctx, request) };
  const identity = identityOf(parts, call);
  const sending = parts.store.claim === undefined ? sendOnce(parts, call, identity) : sendClaimed(parts, call, identity);
  const sent = sending instanceof Promise ? await sending : sending;
  if (sent.answer === undefined) ctx.onAdmitted?.(sent.task.row.id);
  if (ctx.reply !== undefined) await replyAgain(parts, { to: ctx.reply, dialect: ctx.dialect }, sent);
  const result = sent.answer === undefined ? await answer(parts, call, sent) : { message: sent.answer };
  const mark = deliveryMark(parts, call, identity);
  if (mark !== undefined) {
    if (ctx.onDelivered === undefined) mark();
    else ctx.onDelivered(mark);
  }
  return result;
}

/**
 * Waits until the task is settled, and returns it. With `returnImmediately` it waits for the first
 * commit only.
 */
async function answer(parts: SendParts, call: SendCall, { task, seq, unread }: AcceptedMessage): Promise<SendResult> {
  let sender = call.request.configuration?.returnImmediately === true ? undefined : task.addSender(seq);
  const stopWaiting = (): void => {
    if (sender !== undefined) task.removeSender(sender);
    sender = undefined;
  };
  const cancelLimit = limitWait(parts, call, () => {
    stopWaiting();
    task.wake();
  });
  try {
    // A quick agent is done with the first commit. Only calls that wait longer listen for their caller's disconnect.
    for (let isFirst = true; !isAnswered(task, seq, sender); isFirst = false)
      await wait(parts, task, isFirst ? undefined : call.ctx.signal);
    if (task.direct !== undefined) return { message: task.direct };
    task.announce();
    const folded = foldTo(parts, task, sender?.settledAt ?? task.committed);
    const whole = folded instanceof Promise ? await folded : folded;
    const shown = withHistory(whole, call.request.configuration?.historyLength);
    const named = renameTask(shown, nameFor(task.row, call.ctx.semantics));
    return { task: unread === undefined ? named : withEarlier(named, await foldTo(parts, unread, unread.committed)) };
  } finally {
    cancelLimit?.();
    stopWaiting();
    unread?.release();
    task.release();
  }
}

/** The answer to an earlier message that nobody has read stands before the answer to this one. */
function withEarlier(task: Task, { artifacts: earlier = [] }: Task): Task {
  return earlier.length === 0 ? task : { ...task, artifacts: [...earlier, ...(task.artifacts ?? [])] };
}

/** Callers of some dialects wait only for so long, and can't ask for a task whose id they never got. */
function limitWait({ timers }: SendParts, { request, ctx }: SendCall, onLimit: () => void): (() => void) | undefined {
  const ms = ctx.semantics?.sendMsMax;
  return ms === undefined || request.configuration?.returnImmediately === true ? undefined : timers.later(ms, onLimit);
}

/** The answer is durable: a direct message, the state that answers the message, or only the message if the caller waits for no more. */
function isAnswered(task: LiveTask, seq: Seq, sender: Sender | undefined): boolean {
  if (task.direct !== undefined) return task.isDirectSaved;
  const at = sender === undefined ? seq : sender.settledAt;
  return at !== undefined && task.committed >= at;
}

function wait({ commits, lifecycle }: SendParts, task: LiveTask, signal: AbortSignal | undefined): Promise<void> {
  task.checkHere();
  commits.check();
  if (signal?.aborted === true) throw new A2AError('UNAVAILABLE', 'the caller has disconnected');
  if (lifecycle.phase === 'off') throw new A2AError('UNAVAILABLE', 'the server is shutting down', { retryAfterMs: 1000 });
  return task.nextCommit(signal);
}

/** Like `send`, with every event as it happens. */
export async function* stream(
  parts: SendParts,
  facts: AgentFacts,
  { request, ctx }: SendArguments,
): EventStream & AsyncGenerator<readonly Logged[]> {
  checkStreaming(parts.agents, facts.agent);
  if (parts.store.lease !== undefined) checkLease(parts.store.lease);
  const call: SendCall = { request, ctx, facts, owner: ownerOf(ctx, request) };
  const identity = identityOf(parts, call);
  const sent = await (parts.store.claim === undefined ? sendOnce(parts, call, identity) : sendClaimed(parts, call, identity));
  if (sent.answer === undefined) ctx.onAdmitted?.(sent.task.row.id);
  const mark = deliveryMark(parts, call, identity);
  if (mark !== undefined) ctx.onDelivered?.(mark);
  if (sent.answer !== undefined) {
    yield [{ event: { message: sent.answer } }];
  } else {
    yield* events(parts, call, sent);
  }
  if (ctx.onDelivered === undefined && !ctx.signal.aborted) mark?.();
}

/** The events of a streamed send: the task first, or one direct message. */
async function* events(parts: SendParts, call: SendCall, { task, seq, unread }: AcceptedMessage): AsyncGenerator<readonly Logged[]> {
  const { semantics: names, signal } = call.ctx;
  const trim = (whole: Task): Task => withHistory(whole, call.request.configuration?.historyLength);
  try {
    await firstOutput(parts, task, { seq, signal });
    if (task.direct !== undefined) {
      yield [{ event: { message: task.direct } }];
      return;
    }
    task.announce();
    const staysOpen = call.facts.questionsKeepStream && names?.streamsThroughQuestions === true;
    yield* follow(parts, task, { from: seq, names, signal, endsOnQuestion: staysOpen ? 'without-run' : true, trim });
  } finally {
    unread?.release();
    task.release();
  }
}

/** The first frame is either a task or a direct message, so the stream waits a moment for the agent's first output. */
async function firstOutput(
  parts: SendParts,
  task: LiveTask,
  { seq, signal }: { readonly seq: Seq; readonly signal: AbortSignal },
): Promise<void> {
  let isOverdue = task.announced;
  const cancel = isOverdue
    ? undefined
    : parts.timers.later(parts.limits.firstOutputMs, () => {
        isOverdue = true;
        task.wake();
      });
  const isOver = (): boolean => {
    if (task.direct !== undefined) return task.isDirectSaved;
    return task.committed > seq || (isOverdue && task.committed >= seq);
  };
  try {
    while (!isOver()) await wait(parts, task, signal);
  } finally {
    cancel?.();
  }
}
