import type { Message } from '#protocol';
import { A2AError } from '#protocol';
import type { ReplyTo } from '../outbox/lane.ts';
import { progressOf } from '../outbox/lane.ts';
import type { Core } from '../tasks/core.ts';
import type { Admitted } from '../tasks/live-task.ts';
import { nextCommit } from '../tasks/live-task.ts';
import type { Call } from './call.ts';

/** Where the answers to a call go besides to the call itself. */
export function replyOf({ ctx }: Call): ReplyTo | undefined {
  return ctx.reply === undefined ? undefined : { to: ctx.reply, dialect: ctx.dialect };
}

/**
 * A repeat attaches to the task of the first send, whose answers may have gone out already: whoever repeats has not got them. So all that
 * came of the message goes there once more. Of a first send this is kept already, and then there is nothing to do.
 */
export async function replyAgain(
  core: Core,
  call: Call,
  sent: (Admitted & { readonly answer?: never }) | { readonly answer: Message },
): Promise<void> {
  const reply = replyOf(call);
  if (core.outbox.carrier === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'answers can only go to the call itself here');
  if (reply === undefined || sent.answer !== undefined) return;
  const { live, seq } = sent;
  while (live.committed < seq) {
    core.writer.check();
    await nextCommit(live);
  }
  const writes = core.outbox.replying(live.row, reply, seq);
  if (writes.length === 0) return;
  for (const write of writes) core.writer.add(write);
  await core.writer.settled();
  for (const write of writes) if (write.kind === 'outbox') core.outbox.opened(write.row, live.row, progressOf(live.row, live.committed));
}
