/**
 * The engine: runs agents and keeps their tasks. A task outlives its caller, its readers and the
 * process. Each task is a log of events, and an event is on disk before anyone sees it.
 *
 * ```ts
 * const engine = createEngine({ store: memoryStore(), agents: { echo } });
 * await engine.start();
 * const { task } = await engine.serviceOf('echo').send({ message: createUserMessage('hello') }, ctx);
 * ```
 */
export type { CellEvents, StoreCells } from './cells.ts';
export { CellsLostError, ElsewhereError } from './cells.ts';
export type { KeyRange, TakenNames } from './commit/outcome.ts';
export { CommitUnknownError } from './commit/outcome.ts';
export type { Engine, EngineStats } from './engine.ts';
export { createEngine } from './engine.ts';
export type { ErasePart, ErasePeers } from './erase-peers.ts';
export type { LeaseEvents, StoreLease } from './lease.ts';
export type { EngineLimits } from './limits.ts';
export { DEFAULT_ENGINE_LIMITS } from './limits.ts';
export type { AroundRun, EngineOptions, ExtendedCard } from './options.ts';
export type { DeliveryOutcome, ReplyPublisher, TaskReply, Vault, WebhookDelivery, WebhookSender } from './outbox/delivery.ts';
export type { WebhookStats } from './outbox/outbox.ts';
export type {
  Blobs,
  ContextFilter,
  ConversationName,
  ConversationNames,
  ConversationOwner,
  EntryRange,
  ListFilter,
  ListPosition,
  ListQuery,
  LogEntry,
  MaybePromise,
  OutboxEntry,
  OutboxQuery,
  OutboxRow,
  Owner,
  PushRow,
  QuietRange,
  SearchQuery,
  SearchTerm,
  SemanticsOf,
  SendName,
  SendRecord,
  Store,
  TaskKey,
  TaskRow,
  TaskScope,
  TaskSearch,
  TenantScope,
  Write,
} from './ports.ts';
export type { CallOrigin, ReportedTask, ReportFailure } from './report.ts';
export type { WaitingCount } from './tasks/waiting-tasks.ts';
export { timeOrderedIds } from './time-ordered-ids.ts';
export type { Timers } from './timers.ts';
export { systemTimers } from './timers.ts';
export type { RunningElsewhere, RunningTasksMaxOf } from './turns/quotas.ts';
export type { Recovered } from './turns/recovery.ts';
