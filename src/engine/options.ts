import type { Agent, AgentCard, AgentOutput, CallContext, Clock, DialectId, Ids, Traits, Turn } from '#protocol';
import type { EngineLimits } from './limits.ts';
import type { Carrier, Courier, Vault } from './outbox/courier.ts';
import type { Blobs, Entry, Store, TaskRow } from './ports.ts';
import type { Timers } from './timers.ts';
import type { RunningTasksMaxOf } from './turns/quotas.ts';

/** Work around every run of an agent: it calls `run`, with the turn it was given or one of its own. */
export type AroundRun = (run: (turn: Turn) => AsyncIterable<AgentOutput>, turn: Turn, agent: string) => AsyncIterable<AgentOutput>;

/** The card for those who have shown who they are. */
export type ExtendedCard = (agent: string, ctx: CallContext) => Promise<AgentCard>;

export interface EngineOptions {
  readonly store: Store;
  /** By the name under which their tasks are kept: a name that is gone leaves its tasks orphaned. */
  readonly agents: Readonly<Record<string, Agent>>;
  /** Absent: large content stays in the log. */
  readonly blobs?: Blobs;
  readonly limits?: Partial<EngineLimits>;
  /** Of one principal, at once. Beyond that a send is refused with RATE_LIMITED. */
  readonly runningTasksMaxOf?: RunningTasksMaxOf;
  /** `messageId`: a repeated message id always attaches to the first task. Default `key`: as docs/engine.md says. */
  readonly idempotency?: 'key' | 'messageId';
  /** Signs page tokens; at least 32 bytes. Default: made anew, so that tokens end with the process. */
  readonly secret?: Uint8Array<ArrayBuffer>;
  readonly extendedCard?: ExtendedCard;
  readonly aroundRun?: AroundRun;
  /** Delivers to webhooks. Absent: none can be registered. */
  readonly courier?: Courier;
  /** Keeps the credentials of webhooks. Absent: those that need some can't be registered. */
  readonly vault?: Vault;
  /** Carries answers to where bindings want them (`CallContext.reply`). Absent: no binding may ask for it. */
  readonly carrier?: Carrier;
  readonly traitsOf?: (dialect: DialectId) => Traits;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly timers?: Timers;
  /** What went wrong inside, for the log. */
  readonly report?: (what: string, cause: unknown) => void;
  /** The store has failed for good: nothing more can be kept, and the process had better end. */
  readonly onBroken?: (cause: unknown) => void;
  /** These entries are durable: a wake-up for whoever follows logs, as webhooks do. */
  readonly onCommitted?: (row: TaskRow, entries: readonly Entry[]) => void;
}
