import type { ArtifactId, ContextId, Seq, TaskId } from './ids.ts';
import type { Metadata } from './json.ts';
import type { Message } from './message.ts';
import type { Part } from './parts.ts';
import type { TaskState } from './states.ts';

/** RFC 3339 in UTC with `Z`, as A2A 1.0.1 §5.6.1 wants it. */
export type Timestamp = string;

export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: Message;
  readonly timestamp?: Timestamp;
}

export interface Artifact {
  readonly artifactId: ArtifactId;
  readonly parts: readonly Part[];
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: Metadata;
  readonly extensions?: readonly string[];
}

/** A2A 1.0.1 §4.1.1. `generation` is the 1.1 draft's: the sequence number the task is folded to. */
export interface Task {
  readonly id: TaskId;
  readonly status: TaskStatus;
  readonly contextId?: ContextId;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: Metadata;
  readonly generation?: Seq;
}

export function createTaskStatus(state: TaskState, message?: Message, at: Date = new Date()): TaskStatus {
  const timestamp = at.toISOString();
  return message === undefined ? { state, timestamp } : { state, message, timestamp };
}

export interface InitialTask {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly agentName?: string;
  readonly message?: Message;
}

export function createInitialTask(from: InitialTask): Task {
  return {
    id: from.taskId,
    contextId: from.contextId,
    status: createTaskStatus('TASK_STATE_SUBMITTED'),
    ...(from.message === undefined ? {} : { history: [from.message] }),
    ...(from.agentName === undefined ? {} : { metadata: { agent_name: from.agentName } }),
  };
}

export interface FinalTask {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly finalStatus: TaskStatus;
  readonly artifacts?: readonly Artifact[];
  readonly metadata?: Metadata;
}

export function createFinalTask(from: FinalTask): Task {
  return {
    id: from.taskId,
    contextId: from.contextId,
    status: from.finalStatus,
    ...(from.artifacts === undefined ? {} : { artifacts: from.artifacts }),
    ...(from.metadata === undefined ? {} : { metadata: from.metadata }),
  };
}
