import type { ContextId, Seq, TaskId } from './ids.ts';
import type { Metadata, OneOf } from './json.ts';
import { unreachable } from './json.ts';
import type { Message } from './message.ts';
import { isTerminal } from './states.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/** `contextId` is empty only where the origin never tells it (Society, Cortex, 0.1 without a session). */
export interface TaskStatusUpdate {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly status: TaskStatus;
  readonly metadata?: Metadata;
  readonly generation?: Seq;
}

export interface TaskArtifactUpdate {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly artifact: Artifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly metadata?: Metadata;
  readonly generation?: Seq;
}

/** A2A 1.0.1 StreamResponse: what a stream carries, a log keeps and a webhook receives. */
export type TaskEvent = OneOf<{
  task: Task;
  message: Message;
  statusUpdate: TaskStatusUpdate;
  artifactUpdate: TaskArtifactUpdate;
}>;
export type TaskEventKind = 'task' | 'message' | 'statusUpdate' | 'artifactUpdate';

/** An event and its place in our log. No `seq`: not in a log of ours (a proxied origin, a control frame). */
export interface Logged {
  readonly seq?: Seq;
  readonly event: TaskEvent;
  /** The stream ends after this event, although its state is not terminal. 0.x clients stop reading at the `final` that this becomes. */
  readonly closes?: true;
}

/** Batches, so that one wake-up, one encode and one socket write serve all that has gathered. */
export type EventStream = AsyncIterable<readonly Logged[]>;

export function eventKind(event: TaskEvent): TaskEventKind {
  if (event.statusUpdate !== undefined) return 'statusUpdate';
  if (event.artifactUpdate !== undefined) return 'artifactUpdate';
  if (event.task !== undefined) return 'task';
  if (event.message !== undefined) return 'message';
  return unreachable(event);
}

/** A direct message ends its stream; otherwise a terminal state does (A2A 1.0.1 §3.1.2). */
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
