import type { Logged } from '#protocol';
import { seqAfter } from '#protocol';
import type { EngineClock } from '../engine-clock.ts';
import type { SemanticsOf } from '../ports.ts';
import type { LogParts } from '../read/fold.ts';
import { entriesIn, foldTo, withHistory } from '../read/fold.ts';
import { nameFor, renameEvent, renameTask } from '../read/task-names.ts';
import type { ReportFailure } from '../report.ts';
import type { TaskTable } from '../tasks/table.ts';
import type { DeliveryChannel } from './channel.ts';
import type { ReplyPublisher, TaskReply } from './delivery.ts';
import type { DeliveryQueue } from './queue.ts';
import { endOf, reportedOf } from './queue.ts';

export interface ReplyParts extends LogParts {
  readonly tasks: TaskTable;
  readonly semanticsOf: SemanticsOf;
  readonly clock: EngineClock;
  readonly report: ReportFailure;
}

/** A broker that was away comes back for all queues at once: they retry soon, but not all the time. */
const RETRY_MS = 100;
const RETRY_MS_MAX = 2000;
const PUBLISHING_MAX = 256;

/**
 * Replies: all go to one broker, so there is no receiver to protect and no dead letter. Each delivery
 * holds all events since the last one, taken from memory where possible, and is published until the
 * broker has accepted it.
 */
export function replyChannel(parts: ReplyParts, publisher: ReplyPublisher): DeliveryChannel {
  const { clock, report } = parts;
  return {
    kind: 'reply',
    activeMax: PUBLISHING_MAX,
    perDestinationMax: PUBLISHING_MAX,
    hasBreaker: false,
    drainsOnStop: true,
    delayMsMax: RETRY_MS_MAX,
    ownsConfig: true,
    mayDeliver: () => true,
    destinationOf: () => 'broker',
    attempt: async (queue, signal) => {
      try {
        const reply = await replyFor(parts, queue);
        const seq = reply?.events.at(-1)?.seq;
        if (reply === undefined || seq === undefined) return 'gone';
        await publisher.publish(reply, signal);
        return { outcome: { kind: 'delivered' }, seq };
      } catch (thrown) {
        if (signal.aborted) return 'aborted';
        if (queue.row.attempts === 0)
          report(`a reply of task ${queue.task.id} could not be published; it is tried again`, thrown, reportedOf(queue));
        return { outcome: { kind: 'failed', problem: 'the reply could not be published' }, seq: seqAfter(queue.row.done) };
      }
    },
    judge: ({ row, rewind }, { outcome, seq }) => {
      if (outcome.kind === 'delivered') return { row: { ...row, done: rewind !== undefined && rewind < seq ? rewind : seq, attempts: 0 } };
      const attempts = row.attempts + 1;
      const dueAt = clock.now().ms + Math.min(RETRY_MS * 2 ** (attempts - 1), RETRY_MS_MAX);
      return { row: { ...row, attempts, dueAt }, isTransient: true };
    },
  };
}

/**
 * Everything after the last delivery, at most one page; with the task, if the message has been dealt
 * with.
 */
async function replyFor(parts: ReplyParts, queue: DeliveryQueue): Promise<TaskReply | undefined> {
  const { reply, row } = queue;
  if (reply === undefined) return undefined;
  const task = await parts.tasks.hold('any', queue.task.id);
  if (task === undefined) return undefined;
  try {
    const { isFinished, isWaiting } = queue.progress;
    const end = endOf(queue);
    const semantics = parts.semanticsOf(reply.dialect);
    const name = nameFor(queue.task, semantics);
    const entries = await entriesIn(parts, task, { after: row.done, upTo: end });
    const events: readonly Logged[] =
      name === undefined ? entries : entries.map(({ seq, event }) => ({ seq, event: renameEvent(event, name) }));
    const published = { to: reply.to, agent: queue.task.agent, dialect: reply.dialect, events };
    if (entries.at(-1)?.seq !== end || !(isFinished || isWaiting)) return published;
    return { ...published, task: renameTask(withHistory(await foldTo(parts, task, end), semantics.historyLength), name) };
  } finally {
    task.release();
  }
}
