import type { ContextId, DialectId, ExternalId, Logged, PushConfig, Task, TaskId } from '#protocol';

/** A task and its log. `task` is the fold of the log. */
export interface TaskRecord {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly principal: string;
  readonly origin: DialectId;
  readonly alias: ExternalId | undefined;
  readonly log: Logged[];
  readonly push: Map<string, PushConfig>;
  readonly stopped: Promise<void>;
  readonly stop: () => void;
  task: Task;
  asked: boolean;
}
