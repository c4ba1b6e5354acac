import type { Caller, HttpResponse } from '#bindings';
import type { AroundRun, Blobs, EngineLimits, ReplyPublisher, Store } from '#engine';
import type { AdminMesh, Agent, CardSigner, Fetch } from '#protocol';
import type { AuthMethod } from './access/authentication/auth-method.ts';
import type { Authenticate } from './access/authentication/caller.ts';
import type { HostOriginOptions } from './access/host-origin.ts';
import type { AgentLike, ServedAgent } from './agents/served-agent.ts';
import type { AuditLog } from './audit/audit.ts';
import type { ServerLimits } from './limits.ts';
import type { Log } from './observability/log.ts';
import type { Metrics } from './observability/metrics.ts';
import type { OtelApi } from './observability/tracing.ts';
import type { Outbound } from './outbound/port.ts';
import type { NodeKeys } from './push/signing-keys.ts';

/** Beyond it, calls are refused with RATE_LIMITED. */
export interface Quota {
  readonly runningTasksMax?: number;
  readonly streamsMax?: number;
}

/** Offers agents as MCP tools: `mcpMount` of `parley-a2a/tools/mcp`. */
export type McpMount = (agents: readonly ServedAgent[]) => (request: Request, caller: Caller) => Promise<Response>;

/** The mesh that a node is on, for its operators: `meshView` of `parley-a2a/mesh`. */
export interface MeshPort {
  shown(): AdminMesh;
  /** An agent of the mesh, to be called from here. */
  agent(name: string): Agent | undefined;
}

export interface ServingOptions extends HostOriginOptions {
  /** Where tasks are kept. Default: in memory, as long as the process lives. It is closed with the server. */
  readonly store?: Store;
  readonly blobs?: Blobs;
  readonly limits?: Partial<ServerLimits & EngineLimits>;
  /** What one principal may have at once, by its id. Default: as much as there is room for. */
  readonly quotaOf?: (principal: string) => Quota | undefined;
  /** How callers show who they are; any one will do, and the cards say so. Default: whoever reaches the socket is the principal `local`. */
  readonly auth?: readonly AuthMethod[];
  /** In place of `auth`, your own: who is calling, or a refusal. The cards then say of it what the agents' own cards say. */
  readonly authenticate?: Authenticate;
  /** Where it is written down who was refused, and who changed what. It is closed with the server. */
  readonly audit?: AuditLog;
  /** `strict` serves cards of pure 1.0. */
  readonly card?: 'superset' | 'strict';
  /** The domain in whose name the agents stand in the catalog. */
  readonly publisher?: string;
  readonly idempotency?: 'key' | 'messageId';
  /** Refuse 1.0 calls that do not say so in `A2A-Version`, as the letter of A2A 1.0.1 §3.6.2 wants it. */
  readonly versionRequired?: boolean;
  /** Signs page tokens: at least 32 bytes, the same in every process that serves the same store. */
  readonly secret?: Uint8Array<ArrayBuffer>;
  /** The way out to webhooks: `createOutbound()` of `parley-a2a/server/outbound`. Absent: there are none, and cards say so. */
  readonly outbound?: Outbound;
  /**
   * They sign what goes to webhooks, and keep their credentials. Default: made for the process; then with a `store` of your own webhooks
   * can't have credentials, which the next process could not read.
   */
  readonly keys?: NodeKeys;
  /** Carries answers to a broker: `joinMesh()` of `parley-a2a/mesh` has one. */
  readonly replyPublisher?: ReplyPublisher;
  readonly mesh?: MeshPort;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Default: `@opentelemetry/api`, if it is installed. `false` for none. */
  readonly otel?: OtelApi | false;
  /** Work around every run of an agent, to know whose code is at work (`AsyncLocalStorage`). */
  readonly aroundRun?: AroundRun;
  /** How requests of the console reach agents elsewhere. Default: `outbound`. */
  readonly relay?: Fetch;
  /** What `/api/parley/v1/health` says of the version. */
  readonly version?: string;
  /** Serves the files of the web console. */
  readonly console?: (path: string) => HttpResponse | Promise<HttpResponse>;
  /** Agents under names of their own that are there from the start, and may go and come (`Handler.add`): their tasks are taken up too. */
  readonly known?: ReadonlyMap<string, Agent>;
  /** Signs the cards. Give `url` too: a signature over an address that the caller chose is worth little. */
  readonly signer?: CardSigner;
  /** Answers `/mcp`. */
  readonly mcp?: McpMount;
  /** The process is short of something (memory, files): new streams are refused while it is. */
  readonly isOverloaded?: () => boolean;
  /** The store has failed for good: nothing more can be kept, and the process had better end. */
  readonly onBroken?: (cause: unknown) => void;
}

export interface HandlerOptions extends ServingOptions {
  /** The first is the root agent; every one is also at `/agents/{name}/`. */
  readonly agents: AgentLike | readonly AgentLike[];
}
