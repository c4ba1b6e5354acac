import type { Agent, AgentCard, AgentOutput, CallContext, Clock, Ids, TaskState, Turn } from '#protocol';
import type { ErasePeers } from './erase-peers.ts';
import type { EngineLimits } from './limits.ts';
import type { ReplyPublisher, Vault, WebhookSender } from './outbox/delivery.ts';
import type { Blobs, LogEntry, SemanticsOf, Store, TaskRow } from './ports.ts';
import type { CallOrigin, ReportFailure } from './report.ts';
import type { Timers } from './timers.ts';
import type { RunningElsewhere, RunningTasksMaxOf } from './turns/quotas.ts';

/** Wraps every run of an agent. It calls `run` with the given turn or one of its own. */
export type AroundRun = (run: (turn: Turn) => AsyncIterable<AgentOutput>, turn: Turn, agent: string) => AsyncIterable<AgentOutput>;

/** Returns the extended card for an authenticated caller. */
export type ExtendedCard = (agent: string, ctx: CallContext) => Promise<AgentCard>;

/** Options of `createEngine`. Only `store` and `agents` are required. */
export interface EngineOptions {
  /** Where tasks are kept, for example `memoryStore()` or `openSqliteStore(path)`. */
  readonly store: Store;
  /**
   * By the name under which their tasks are stored. Without that name, its unfinished tasks fail at the
   * next start.
   */
  readonly agents: Readonly<Record<string, Agent>>;
  /** Stores large content outside the log. Absent: large content stays in the log. */
  readonly blobs?: Blobs;
  /** Overrides of `DEFAULT_ENGINE_LIMITS`. */
  readonly limits?: Partial<EngineLimits>;
  /** The maximum number of running tasks of a principal. Above it a send fails with RATE_LIMITED. */
  readonly runningTasksMaxOf?: RunningTasksMaxOf;
  /** Running tasks in other processes on the same store, which count too. Absent: none. */
  readonly runningElsewhere?: RunningElsewhere;
  /** The other processes on the same store, which erase their part of a caller's data. Absent: there are none. */
  readonly erasePeers?: ErasePeers;
  /** Called when data of a caller is erased: the program drops what it has of callers in memory. */
  readonly onErase?: () => void;
  /**
   * `messageId`: a repeated message id always attaches to the first task. Default `key`: see
   * docs/engine.md.
   */
  readonly idempotency?: 'key' | 'messageId';
  /** Signs page tokens; at least 32 bytes. Default: random, so that tokens end with the process. */
  readonly secret?: Uint8Array<ArrayBuffer>;
  /** Returns the extended card of an agent. Absent: requests for it fail. */
  readonly extendedCard?: ExtendedCard;
  /** Wraps every run, for example to trace it. */
  readonly aroundRun?: AroundRun;
  /** Sends events to webhooks. Absent: nobody can register a webhook. */
  readonly webhookSender?: WebhookSender;
  /** Encrypts the credentials of webhooks. Absent: webhooks with credentials can't be registered. */
  readonly vault?: Vault;
  /** Publishes replies (`CallContext.reply`). Absent: no binding can ask for replies. */
  readonly replyPublisher?: ReplyPublisher;
  /**
   * What a stored dialect id means for replies, webhooks and an operator's retry. Default: what
   * `#protocol` knows of its dialects.
   */
  readonly semanticsOf?: SemanticsOf;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Source of task and context ids. Default: random ids that start with their time. */
  readonly ids?: Ids;
  /** Default: timers of the runtime. Tests pass their own. */
  readonly timers?: Timers;
  /** Spreads the retries of webhooks: a number from 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /**
   * Tells the caller `local`, who is on this machine, what an agent threw. Others read only that the
   * agent failed. Default false.
   */
  readonly tellCauses?: boolean;
  /**
   * What a start does with unfinished tasks of agents that it does not have. `fail`: they fail. `wait`:
   * they stay as they are until a start that has the agent. Default `fail`.
   */
  readonly missingAgents?: 'fail' | 'wait';
  /** Internal failures, for the log. */
  readonly report?: ReportFailure;
  /** The store has failed for good. Nothing more can be saved, and the process should end. */
  readonly onBroken?: (cause: unknown) => void;
  /** The store can't write for now, for example because the disk is full. Called again without a cause when it writes again. */
  readonly onStalled?: (cause: unknown) => void;
  /** Called when a run has ended, with its task and its duration in milliseconds, without the time that it waited for answers. */
  readonly onRunEnd?: (row: TaskRow, ms: number) => void;
  /** Called when the last status of a task is durable. A direct message counts as completed. */
  readonly onEnded?: (row: TaskRow, state: TaskState) => void;
  /** Called with entries that have become durable, and the request that they belong to. */
  readonly onCommitted?: (row: TaskRow, entries: readonly LogEntry[], origin?: CallOrigin) => void;
}
