import type { Message, Metadata, TaskEvent, TaskState, TaskStatus, Timestamp } from '#protocol';
import { A2AError, isTerminal, mayFollow } from '#protocol';
import type { Moment } from '../engine-clock.ts';
import type { LogEntry, TaskRow } from '../ports.ts';

/** Members of an entry besides its number and its event. */
export type EntryNotes = Omit<LogEntry, 'seq' | 'event'>;

/** What a status update carries besides the state. */
export interface StatusDetails {
  readonly message?: Message | undefined;
  readonly metadata?: Metadata | undefined;
}

export interface NewStatus extends StatusDetails {
  readonly state: TaskState;
  readonly timestamp: Timestamp;
}

/** The event of a new status. */
export function statusEvent({ id: taskId, contextId }: Pick<TaskRow, 'id' | 'contextId'>, status: NewStatus): TaskEvent {
  const { state, timestamp, message, metadata } = status;
  const written: TaskStatus =
    message === undefined ? { state, timestamp } : { state, message: { ...message, taskId, contextId }, timestamp };
  return {
    statusUpdate: metadata === undefined ? { taskId, contextId, status: written } : { taskId, contextId, status: written, metadata },
  };
}

/** The state of the task after this event. */
export function stateAfter(event: TaskEvent, before: TaskState): TaskState {
  return event.statusUpdate?.status.state ?? event.task?.status.state ?? before;
}

/** A terminal state is final. */
export function checkTransition(from: TaskState, to: TaskState, event: TaskEvent): void {
  if (isTerminal(from)) throw new A2AError('INVALID_AGENT_RESPONSE', `the task is ${from} and accepts no further event`);
  if (event.artifactUpdate === undefined && !mayFollow(from, to)) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `a task in state ${from} can't change to ${to}`);
  }
}

/** Approximate size of an entry, for limits. The cost does not depend on the task. */
export function sizeOf(event: TaskEvent, notes: EntryNotes | undefined): number {
  let size = 64;
  const parts = event.artifactUpdate?.artifact.parts ?? event.statusUpdate?.status.message?.parts ?? event.task?.history?.[0]?.parts;
  if (parts !== undefined) for (const part of parts) size += contentLength(part);
  if (notes?.input !== undefined) for (const part of notes.input.parts) size += contentLength(part);
  return size;
}

/** Characters of a part's content: close enough to bytes for a limit. */
export function contentLength(part: { text?: string; raw?: string; url?: string; data?: unknown }): number {
  return part.text?.length ?? part.raw?.length ?? part.url?.length ?? JSON.stringify(part.data ?? null).length;
}

/** Time of the status in milliseconds, for lists. Other events do not move a task in lists. */
export function statusTime(event: TaskEvent, now: Moment): number {
  const timestamp = event.statusUpdate?.status.timestamp ?? event.task?.status.timestamp;
  return timestamp === undefined || timestamp === now.iso ? now.ms : Date.parse(timestamp);
}

/** 200,000 */
export function inDigits(value: number): string {
  return value.toLocaleString('en-US');
}
