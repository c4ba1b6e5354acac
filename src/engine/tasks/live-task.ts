import type { Message, Seq, TaskEvent, TaskState } from '#protocol';
import type { LogEntry, SendRecord, TaskRow, Write } from '../ports.ts';
import type { CallOrigin } from '../report.ts';
import type { AgentRun } from '../turns/agent-run.ts';
import type { EntryNotes, StatusDetails } from './events.ts';
import type { UnsavedEntries } from './unsaved.ts';

/**
 * A task in memory: one that has a run, a reader or an unfinished write. It holds the row and the
 * newest entries, never the whole task; older entries are read from the store. Only `tasks/` changes
 * it: every other part uses the methods.
 */
export interface LiveTask {
  /** The row as it will be when everything pending is durable. */
  readonly row: TaskRow;
  /** The last durable sequence number: what readers may see. */
  readonly committed: Seq;
  /** A caller may know of this task, so a direct message can't replace it any more. */
  readonly announced: boolean;
  /** The task was replaced by a direct message, or deleted. Nothing more of it is written. */
  readonly isGone: boolean;
  /** Another process was the first to use a name of the task. The task was never made. */
  readonly isWithdrawn: boolean;
  /** The task's cell, once it belongs to another process. What is here is outdated, and `isGone` is set. */
  readonly lostCell: number | undefined;
  /** The direct message that replaced the task, and whether it is durable. */
  readonly direct: Message | undefined;
  readonly isDirectSaved: boolean;
  /** Not durable yet: the entries in the current commit, and those for the next one. */
  readonly saving: UnsavedEntries;
  readonly pending: UnsavedEntries;
  /** Durable entries, newest last, without gaps. */
  readonly tail: readonly LogEntry[];
  readonly run: AgentRun | undefined;
  /** Somebody reads it, waits for it or changes it, or a change is not durable yet. Its run does not count. */
  readonly isHeld: boolean;
  /** The request whose message the task works on. Undefined after a restart. */
  readonly origin: CallOrigin | undefined;

  /**
   * Adds an event to the log: checks the transition, numbers the entry and hands it to the next commit.
   * Readers see it when it is durable. Throws once the task is in a terminal state.
   */
  append(event: TaskEvent, notes?: EntryNotes): LogEntry;
  appendStatus(state: TaskState, details?: StatusDetails, notes?: EntryNotes): LogEntry;
  /** Adds writes to the commit that takes the newest entry. */
  writeBeside(...writes: readonly Write[]): void;
  /** Adds the record of a send to that commit, and keeps it if the send made the task. */
  recordSend(record: SendRecord, key: string): void;
  /** Content that is stored outside the log counts as well. */
  addBytes(bytes: number): void;
  /** The message of entry `seq` starts a new turn. */
  beginTurn(seq: Seq): void;
  /** How often the agent was started for this turn (`TaskRow.attempt`). */
  setAttempt(attempt: number): void;
  /** `origin`: the request that brought the run's message. Default: as before. */
  setRun(run: AgentRun | undefined, origin?: CallOrigin): void;
  /** The row has changed: save it with the next commit. */
  touch(): void;

  announce(): void;
  /**
   * The message becomes the answer in place of the task. Returns whether the store may already have the
   * task.
   */
  replaceBy(direct: Message): boolean;
  /** Another process owns the task's cell from now on. Those who wait for the task get an ElsewhereError. Calling it twice is harmless. */
  lose(cell: number): void;
  /** Throws an ElsewhereError if another process owns the task. */
  checkHere(): void;
  /** Nothing more of it is written, and readers are disconnected. */
  discard(): void;

  /** Keeps the task in memory until `release`. */
  hold(): void;
  release(): void;
  /** Removes the task from memory if nothing uses it. To be called after its run has ended. */
  dropIfIdle(): void;
  /** Resolves after the next commit that concerns the task, or when the signal fires. */
  nextCommit(signal?: AbortSignal): Promise<void>;
  /** Resolves when the entry is durable. Rejects if the store can't be written to. */
  durable(seq: Seq): Promise<void>;
  /** Calls `wake` once, after the next commit that concerns the task. */
  onCommit(wake: () => void): void;
  offCommit(wake: () => void): void;
  /** Wakes everyone who waits for a commit. */
  wake(): void;
  /** The calls that wait for an answer. */
  readonly senders: readonly Sender[];
  addSender(seq: Seq): Sender;
  removeSender(sender: Sender): void;
  /** `count` durable entries after a sequence number, or undefined if they are no longer in memory. */
  recent(after: Seq, count: number): readonly LogEntry[] | undefined;
}

/** A call that waits for the answer to its message. */
export interface Sender {
  /** The entry that holds its message. */
  readonly seq: Seq;
  /** The entry that answers it: a terminal state, or a question. */
  readonly settledAt: Seq | undefined;
}

/** Where a message went: the task, held, and the entry with the message. */
export interface AcceptedMessage {
  readonly task: LiveTask;
  readonly seq: Seq;
  /** The task of the same name that this message waited for, held, if no other call has waited for its answer. */
  readonly unread?: LiveTask;
}
