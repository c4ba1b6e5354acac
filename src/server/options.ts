import type { Answer } from '#bindings';
import type { Blobs, EngineLimits, Store } from '#engine';
import type { Gate } from './gate.ts';
import type { GuardOptions } from './guard.ts';
import type { ServerLimits } from './limits.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { AgentLike } from './served.ts';
import type { OtelApi } from './tracing.ts';

/** Beyond it, calls are refused with RATE_LIMITED. */
export interface Quota {
  readonly runningTasksMax?: number;
  readonly streamsMax?: number;
}

export interface ServingOptions extends GuardOptions {
  /** Where tasks are kept. Default: in memory, as long as the process lives. It is closed with the server. */
  readonly store?: Store;
  readonly blobs?: Blobs;
  readonly limits?: Partial<ServerLimits & EngineLimits>;
  /** What one principal may have at once, by its id. Default: as much as there is room for. */
  readonly quotaOf?: (principal: string) => Quota | undefined;
  /** Who may call. Default: whoever reaches the socket is the principal `local`. */
  readonly gate?: Gate;
  /** `strict` serves cards of pure 1.0. */
  readonly card?: 'superset' | 'strict';
  /** The domain in whose name the agents stand in the catalog. */
  readonly publisher?: string;
  readonly idempotency?: 'key' | 'messageId';
  /** Refuse 1.0 calls that do not say so in `A2A-Version`, as the letter of A2A 1.0.1 §3.6.2 wants it. */
  readonly versionRequired?: boolean;
  /** Signs page tokens: at least 32 bytes, the same in every process that serves the same store. */
  readonly secret?: Uint8Array<ArrayBuffer>;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Default: `@opentelemetry/api`, if it is installed. `false` for none. */
  readonly otel?: OtelApi | false;
  /** Serves the files of the web console. */
  readonly console?: (path: string) => Answer | Promise<Answer>;
  /** The process is short of something (memory, files): new streams are refused while it is. */
  readonly isPressed?: () => boolean;
  /** The store has failed for good: nothing more can be kept, and the process had better end. */
  readonly onBroken?: (cause: unknown) => void;
}

export interface HandlerOptions extends ServingOptions {
  /** The first is the root agent; every one is also at `/agents/{name}/`. */
  readonly agents: AgentLike | readonly AgentLike[];
}
