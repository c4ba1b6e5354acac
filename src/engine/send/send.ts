import type { CallContext, EventStream, Logged, SendRequest, SendResult, Seq, Task } from '#protocol';
import { A2AError } from '#protocol';
import { foldTo, withHistory } from '../read/fold.ts';
import { follow } from '../read/follower.ts';
import { checkStreaming } from '../read/subscribe.ts';
import { nameFor, renameTask } from '../read/task-names.ts';
import type { Core } from '../tasks/core.ts';
import { release } from '../tasks/core.ts';
import type { Admitted, Live, Sender } from '../tasks/live-task.ts';
import { addSender, nextCommit, removeSender, wakeAll } from '../tasks/live-task.ts';
import type { Call, Served } from './call.ts';
import { callOf } from './call.ts';
import { markOf, nameOf, sendOnce } from './idempotency.ts';
import { replyAgain } from './reply.ts';

interface Sending {
  readonly request: SendRequest;
  readonly ctx: CallContext;
}

/** A send: answered when the message has been dealt with, or as soon as it is kept. Nothing is answered that is not durable. */
export async function send(core: Core, served: Served, { request, ctx }: Sending): Promise<SendResult> {
  const call = callOf(core, served, request, ctx);
  const naming = nameOf(core, call);
  const sending = sendOnce(core, call, naming);
  const sent = sending instanceof Promise ? await sending : sending;
  if (ctx.reply !== undefined) await replyAgain(core, call, sent);
  const result = sent.answer === undefined ? await answer(core, call, sent) : { message: sent.answer };
  const mark = markOf(core, call, naming);
  if (mark !== undefined) {
    if (ctx.onDelivered === undefined) mark();
    else ctx.onDelivered(mark);
  }
  return result;
}

async function answer(core: Core, call: Call, { live, seq }: Admitted): Promise<SendResult> {
  const returnsAtOnce = call.request.configuration?.returnImmediately ?? !call.traits.blockingDefault;
  const sender = returnsAtOnce ? undefined : addSender(live, seq);
  try {
    // A quick agent is done with the first commit: only who waits longer than that listens for the caller to leave.
    for (let isFirst = true; !isAnswered(live, seq, sender); isFirst = false) await wait(core, live, isFirst ? undefined : call.ctx.signal);
    if (live.direct !== undefined) return { message: live.direct };
    live.announced = true;
    const folded = foldTo(core, live, sender?.settledAt ?? live.committed);
    const task = trimmed(call, folded instanceof Promise ? await folded : folded);
    return { task: renameTask(task, nameFor(live.row, call.traits)) };
  } finally {
    if (sender !== undefined) removeSender(live, sender);
    release(core, live);
  }
}

/** The message is dealt with, or only kept if nobody waits for more, or the agent was so quick that its direct message is the answer; durably. */
function isAnswered(live: Live, seq: Seq, sender: Sender | undefined): boolean {
  if (live.direct !== undefined) return live.isDirectSaved;
  const at = sender === undefined ? seq : sender.settledAt;
  return at !== undefined && live.committed >= at;
}

function wait(core: Core, live: Live, signal: AbortSignal | undefined): Promise<void> {
  core.writer.check();
  if (signal?.aborted === true) throw new A2AError('UNAVAILABLE', 'the caller has left');
  if (core.phase === 'off') throw new A2AError('UNAVAILABLE', 'the server is shutting down', { retryAfterMs: 1000 });
  return nextCommit(live, signal);
}

function trimmed({ request, traits }: Call, task: Task): Task {
  return withHistory(task, request.configuration?.historyLength, traits.historyDefault);
}

/** The same, read along while it happens. */
export async function* stream(core: Core, served: Served, { request, ctx }: Sending): EventStream & AsyncGenerator<readonly Logged[]> {
  checkStreaming(core, served.agent);
  const call = callOf(core, served, request, ctx);
  const naming = nameOf(core, call);
  const sent = await sendOnce(core, call, naming);
  const mark = markOf(core, call, naming);
  if (mark !== undefined) ctx.onDelivered?.(mark);
  if (sent.answer !== undefined) {
    yield [{ event: { message: sent.answer } }];
  } else {
    yield* events(core, call, sent);
  }
  if (ctx.onDelivered === undefined && !ctx.signal.aborted) mark?.();
}

async function* events(core: Core, call: Call, { live, seq }: Admitted): AsyncGenerator<readonly Logged[]> {
  const { traits, ctx } = call;
  try {
    await firstWord(core, live, { seq, signal: ctx.signal });
    if (live.direct !== undefined) {
      yield [{ event: { message: live.direct } }];
      return;
    }
    live.announced = true;
    const { closesOnInputRequired } = traits;
    yield* follow(core, live, { from: seq, traits, signal: ctx.signal, closesOnInputRequired, trim: (task) => trimmed(call, task) });
  } finally {
    release(core, live);
  }
}

/** The first frame says whether this is a task or a message: the agent gets a moment to say its first word. */
async function firstWord(core: Core, live: Live, { seq, signal }: { readonly seq: Seq; readonly signal: AbortSignal }): Promise<void> {
  let isOverdue = live.announced || core.traitsOf(live.row.dialect).directMessage === 'as-task';
  const callOff = isOverdue
    ? undefined
    : core.timers.later(core.limits.firstOutputMs, () => {
        isOverdue = true;
        wakeAll(live);
      });
  try {
    while (live.direct === undefined ? live.committed < seq || !(isOverdue || live.committed > seq) : !live.isDirectSaved) {
      await wait(core, live, signal);
    }
  } finally {
    callOff?.();
  }
}
