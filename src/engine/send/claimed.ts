import type { AcceptedMessage } from '../tasks/live-task.ts';
import type { SendIdentity } from './admit.ts';
import type { SendCall } from './call.ts';
import type { IdempotencyParts, Sent } from './idempotency.ts';
import { sendOnce } from './idempotency.ts';

/**
 * Where several processes write to the store, another one may take the name of a send before the commit that makes its task. Then the task
 * is withdrawn, and the send continues as a repetition of the one that has the name.
 */
export async function sendClaimed(parts: IdempotencyParts, call: SendCall, identity: SendIdentity | undefined): Promise<Sent> {
  for (;;) {
    const sent = await sendOnce(parts, call, identity);
    if (sent.answer !== undefined) return sent;
    let isClaimed = false;
    try {
      isClaimed = await claimed(parts, sent);
    } finally {
      if (!isClaimed) {
        sent.unread?.release();
        sent.task.release();
      }
    }
    if (isClaimed) return sent;
  }
}

/** Waits until the message is durable. False: its task was withdrawn. */
async function claimed({ commits }: IdempotencyParts, { task, seq }: AcceptedMessage): Promise<boolean> {
  while (!task.isWithdrawn && task.committed < seq && !task.isDirectSaved && !(task.isGone && task.direct === undefined)) {
    commits.check();
    await task.nextCommit();
  }
  if (task.committed < seq && !task.isDirectSaved) task.checkHere();
  return !task.isWithdrawn;
}
