import type { ContextId, Seq, TaskId } from './ids.ts';
import type { Metadata, OneOf } from './json.ts';
import { unreachable } from './json.ts';
import type { Message } from './message.ts';
import { isTerminal } from './states.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/**
 * The status of a task has changed. `contextId` is empty only for remote agents that do not send one
 * (Society, Cortex, 0.1 without a session).
 */
export interface TaskStatusUpdate {
  /** The task that has changed. */
  readonly taskId: TaskId;
  /** The conversation of the task. */
  readonly contextId: ContextId;
  /** The new status. It replaces the old one. */
  readonly status: TaskStatus;
  /** Free members of the event, not of the task. */
  readonly metadata?: Metadata;
  /** A2A 1.1 draft: sequence number of this event. */
  readonly generation?: Seq;
}

/** An artifact, or a chunk of one, was produced. */
export interface TaskArtifactUpdate {
  /** The task that produced it. */
  readonly taskId: TaskId;
  /** The conversation of the task. */
  readonly contextId: ContextId;
  /** The artifact, or the parts of one chunk. */
  readonly artifact: Artifact;
  /** True: the parts are added to the artifact with this id. Otherwise they replace it. */
  readonly append?: boolean;
  /** True: no more chunks follow. */
  readonly lastChunk?: boolean;
  /** Free members of the event, not of the artifact. */
  readonly metadata?: Metadata;
  /** A2A 1.1 draft: sequence number of this event. */
  readonly generation?: Seq;
}

/**
 * One event of a task (StreamResponse in A2A 1.0.1). Streams carry it, logs store it, webhooks receive
 * it.
 */
export type TaskEvent = OneOf<{
  /** A snapshot of the task. A stream starts with one. */
  task: Task;
  /** A direct answer. There is no task, and the stream ends. */
  message: Message;
  /** The task has a new state or a new message. */
  statusUpdate: TaskStatusUpdate;
  /** The task has produced a result, or a piece of one. */
  artifactUpdate: TaskArtifactUpdate;
}>;
/** The member of a `TaskEvent` that is present. */
export type TaskEventKind = 'task' | 'message' | 'statusUpdate' | 'artifactUpdate';

/**
 * An event with its sequence number in our log. `seq` is absent for events that are not in a log here,
 * such as those of a proxied agent.
 */
export interface Logged {
  /** Position in the task's log, counted from 1. It is the event id in SSE. */
  readonly seq?: Seq;
  /** What happened. */
  readonly event: TaskEvent;
  /**
   * The stream ends after this event, although its state is not terminal. 0.x clients stop reading at
   * the `final` that this becomes.
   */
  readonly closes?: true;
}

/**
 * Events in batches. All events that are ready share one wake-up, one encoding and one socket write.
 */
export type EventStream = AsyncIterable<readonly Logged[]>;

/** Reads the batches of a stream. */
export interface BatchIterator extends AsyncIterator<readonly Logged[]> {
  /** See `waitsFor`. Never called while a `next` is pending. */
  waitsFor?(waiter: Waiter): boolean;
}

/**
 * Waits without a promise: thousands of streams wait at a time, and a promise with its functions would be most of the memory of each. If
 * `source.waitsFor(waiter)` returns true, the source has nothing yet, and calls `wake` once when it may have something or has ended.
 */
export interface Waiter {
  wake(): void;
  /** False: the waiter calls `return` when the caller leaves, so the source does not have to listen to the signal of the call. Default true. */
  readonly needsListener?: boolean;
}

/** The member that is present, for use in a `switch`. */
export function eventKind(event: TaskEvent): TaskEventKind {
  if (event.statusUpdate !== undefined) return 'statusUpdate';
  if (event.artifactUpdate !== undefined) return 'artifactUpdate';
  if (event.task !== undefined) return 'task';
  if (event.message !== undefined) return 'message';
  return unreachable(event);
}

/** Whether the event ends its stream: a direct message, or a terminal state (A2A 1.0.1 §3.1.2). */
export function isLast(event: TaskEvent): boolean {
  switch (eventKind(event)) {
    case 'message':
      return true;
    case 'task':
      return event.task !== undefined && isTerminal(event.task.status.state);
    case 'statusUpdate':
      return event.statusUpdate !== undefined && isTerminal(event.statusUpdate.status.state);
    case 'artifactUpdate':
      return false;
  }
}
