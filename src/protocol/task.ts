import type { ArtifactId, ContextId, Seq, TaskId } from './ids.ts';
import type { Metadata } from './json.ts';
import type { Message } from './message.ts';
import type { Part } from './parts.ts';
import type { TaskState } from './states.ts';

/** RFC 3339 in UTC with `Z` (A2A 1.0.1 §5.6.1), for example `2026-01-31T12:00:00.000Z`. */
export type Timestamp = string;

/** State of a task with the agent's latest message. */
export interface TaskStatus {
  /** What the task is doing, for example `TASK_STATE_WORKING`. */
  readonly state: TaskState;
  /** For example a question, a progress message or the reason of a failure. */
  readonly message?: Message;
  /** When the task entered this status. */
  readonly timestamp?: Timestamp;
}

/** A result of a task: a document, a file, data. */
export interface Artifact {
  /** Unique within the task. */
  readonly artifactId: ArtifactId;
  /** The content, at least one part. */
  readonly parts: readonly Part[];
  /** For people, for example a file name. */
  readonly name?: string;
  /** What it is, for people. */
  readonly description?: string;
  /** Free members. */
  readonly metadata?: Metadata;
  /** URIs of the extensions that it uses. */
  readonly extensions?: readonly string[];
}

/** A unit of work that an agent does for a caller (A2A 1.0.1 §4.1.1). */
export interface Task {
  /** Chosen by the server. */
  readonly id: TaskId;
  /** Its state and the agent's latest message. */
  readonly status: TaskStatus;
  /** The conversation that the task belongs to. */
  readonly contextId?: ContextId;
  /** Results so far. */
  readonly artifacts?: readonly Artifact[];
  /** Messages of both sides, oldest first. May be shortened by `historyLength`. */
  readonly history?: readonly Message[];
  /** Free members, for example of extensions. */
  readonly metadata?: Metadata;
  /** 1.1 draft: sequence number of the last event in this view of the task. */
  readonly generation?: Seq;
}

/** A status with the current time. */
export function createTaskStatus(state: TaskState, message?: Message, at: Date = new Date()): TaskStatus {
  const timestamp = at.toISOString();
  return message === undefined ? { state, timestamp } : { state, message, timestamp };
}

/** Arguments of `createInitialTask`. */
export interface InitialTask {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly agentName?: string;
  readonly message?: Message;
}

/** A submitted task, as SAM's helper of the same name builds it. */
export function createInitialTask(from: InitialTask): Task {
  return {
    id: from.taskId,
    contextId: from.contextId,
    status: createTaskStatus('TASK_STATE_SUBMITTED'),
    ...(from.message === undefined ? {} : { history: [from.message] }),
    ...(from.agentName === undefined ? {} : { metadata: { agent_name: from.agentName } }),
  };
}

/** Arguments of `createFinalTask`. */
export interface FinalTask {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly finalStatus: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly metadata?: Metadata;
}

/** A task with its final status, as SAM's helper of the same name builds it. */
export function createFinalTask(from: FinalTask): Task {
  return {
    id: from.taskId,
    contextId: from.contextId,
    status: from.finalStatus,
    ...(from.artifacts === undefined ? {} : { artifacts: from.artifacts }),
    ...(from.metadata === undefined ? {} : { metadata: from.metadata }),
  };
}
