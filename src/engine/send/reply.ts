import type { Message } from '#protocol';
import { A2AError } from '#protocol';
import type { Commits } from '../commit/group-commit.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { ReplyAddress } from '../outbox/queue.ts';
import { progressOf } from '../outbox/queue.ts';
import type { AcceptedMessage } from '../tasks/live-task.ts';

interface ReplyParts {
  readonly outbox: Outbox;
  readonly commits: Pick<Commits, 'add' | 'settled'>;
}

/**
 * A repeated send attaches to the task of the first one, whose replies may already be published. Its caller may not have received them,
 * so all replies to the message are published again. A first send has this saved already, and then nothing happens here.
 */
export async function replyAgain(
  { outbox, commits }: ReplyParts,
  reply: ReplyAddress,
  sent: (AcceptedMessage & { readonly answer?: never }) | { readonly answer: Message },
): Promise<void> {
  if (outbox.replyPublisher === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this server publishes no replies');
  if (sent.answer !== undefined) return;
  const { task, seq } = sent;
  await task.durable(seq);
  const writes = outbox.openReply(task.row, reply, seq);
  if (writes.length === 0) return;
  for (const write of writes) commits.add(write, task.row);
  await commits.settled('request', task.row);
  for (const write of writes) if (write.kind === 'outbox') outbox.opened(write.row, task.row, progressOf(task.row, task.committed));
}
