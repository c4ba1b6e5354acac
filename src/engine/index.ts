/**
 * The engine room: tasks that outlive their callers, their readers and the process. Every task is a log of events; what is in the
 * log is on disk before anybody hears of it. It imports the protocol room and reaches the outside through ports.
 *
 * ```ts
 * const engine = createEngine({ store: memoryStore(), agents: { echo } });
 * await engine.start();
 * const { task } = await engine.serviceOf('echo').send({ message: createUserMessage('hello') }, ctx);
 * ```
 */
export type { Engine, EngineStats } from './engine.ts';
export { createEngine } from './engine.ts';
export type { EngineLimits } from './limits.ts';
export { DEFAULT_ENGINE_LIMITS } from './limits.ts';
export type { AroundRun, EngineOptions, ExtendedCard } from './options.ts';
export type { DeliveryOutcome, ReplyPublisher, TaskReply, Vault, WebhookDelivery, WebhookSender } from './outbox/delivery.ts';
export type {
  Blobs,
  ContextFilter,
  Entry,
  EntryRange,
  ListFilter,
  ListQuery,
  MaybePromise,
  OutboxEntry,
  OutboxQuery,
  OutboxRow,
  Owner,
  Place,
  PushRow,
  Scope,
  SendName,
  SendRecord,
  Store,
  TaskKey,
  TaskRow,
  Write,
} from './ports.ts';
export { timeOrderedIds } from './time-ordered-ids.ts';
export type { Timers } from './timers.ts';
export { systemTimers } from './timers.ts';
export type { RunningTasksMaxOf } from './turns/quotas.ts';
export type { Recovered } from './turns/recovery.ts';
