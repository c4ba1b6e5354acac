import type { Message } from '#protocol';
import { A2AError, isInterrupted } from '#protocol';
import { agentOf } from '../agents.ts';
import type { Owner } from '../ports.ts';
import type { EntryNotes } from '../tasks/events.ts';
import type { AcceptedMessage, LiveTask } from '../tasks/live-task.ts';
import type { TurnInput } from './agent-run.ts';
import type { TurnParts } from './parts.ts';
import { startTurn } from './run.ts';
import type { StopReason } from './stop.ts';
import { stopTask } from './stop.ts';

/** Runs agents. This is what sends and operators use of `turns/`. */
export interface Turns {
  /** A turn that starts now gets a slot at once. */
  readonly hasFreeSlot: boolean;
  /**
   * Throws if the caller's quota is used up, or the queue is full. To be called before a task is made:
   * afterwards its turn is never refused.
   */
  checkNew(owner: Owner): void;
  /** Starts the turn of the message that made the task. */
  start(task: LiveTask, input: TurnInput): void;
  /**
   * Gives the task another message: the answer to its question, the next turn, or a place in the queue
   * of its run. Throws if there is no room. `append` adds the message to the log.
   */
  deliver(task: LiveTask, delivery: MessageDelivery): AcceptedMessage;
  /** Ends the task at once. */
  stop(task: LiveTask, reason: StopReason): void;
}

/** A message for a task that exists. */
export interface MessageDelivery {
  readonly message: Message;
  readonly notes: EntryNotes | undefined;
  readonly inputAt: (seq: AcceptedMessage['seq']) => TurnInput;
  /** Called when the message is in the log, before a turn starts. */
  readonly onAppended: (seq: AcceptedMessage['seq']) => void;
}

/** The functions of `turns/`, bound to the parts that they need. */
export function createTurns(parts: TurnParts): Turns {
  const { slots, quotas } = parts;
  return {
    get hasFreeSlot() {
      return slots.hasRoom;
    },
    checkNew: (owner) => {
      quotas.check(owner);
      if (slots.isFull) throw new A2AError('UNAVAILABLE', 'too many tasks are queued; try again later', { retryAfterMs: 1000 });
    },
    start: (task, input) => startTurn(parts, task, { input }),
    deliver: (task, delivery) => deliver(parts, task, delivery),
    stop: (task, reason) => stopTask(parts, task, reason),
  };
}

/** Logs the message first, so that a crash does not lose it, then starts or continues the run. */
function deliver(parts: TurnParts, task: LiveTask, { message, notes, inputAt, onAppended }: MessageDelivery): AcceptedMessage {
  const { row, run } = task;
  const waits = run !== undefined && run.answer === undefined;
  checkRoom(parts, task, waits);
  if (run === undefined) parts.quotas.check(row.owner);
  const wasAsking = isInterruptedQuestion(parts, task);
  const { seq } = task.appendStatus('TASK_STATE_WORKING', undefined, { ...notes, input: message, ...(waits ? { queued: true } : {}) });
  onAppended(seq);
  // The run waited when its process ended or gave its cell away, so that is not its fault.
  if (wasAsking) task.setAttempt(Math.min(row.attempt, 1));
  if (run === undefined) startTurn(parts, task, wasAsking ? { again: true } : { input: inputAt(seq) });
  else if (run.answer !== undefined) run.answer(message);
  else run.queue.push(inputAt(seq));
  return { task, seq };
}

function checkRoom({ limits, slots }: TurnParts, { row, run }: LiveTask, waits: boolean): void {
  const isFull = waits ? (run?.queue.length ?? 0) >= limits.queuedMessagesMax : run === undefined && slots.isFull;
  if (isFull) throw new A2AError('UNAVAILABLE', 'too many messages are queued; try again later', { retryAfterMs: 1000 });
  if (row.last >= limits.taskEventsMax || row.bytes >= limits.taskBytesMax) {
    throw new A2AError('UNSUPPORTED_OPERATION', `task ${row.alias ?? row.id} is full and accepts no further message`);
  }
}

/**
 * The run was interrupted while it asked, and may be repeated: then this message is the answer, not a
 * turn of its own.
 */
function isInterruptedQuestion({ agents }: TurnParts, { row, run }: LiveTask): boolean {
  return run === undefined && row.attempt > 0 && isInterrupted(row.state) && agentOf(agents, row.agent).recovery !== 'fail';
}
