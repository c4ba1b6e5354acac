import type { Caller, HttpResponse, OnHangUp } from '#bindings';
import type { AroundRun, Blobs, EngineLimits, ErasePeers, ReplyPublisher, Store } from '#engine';
import type { A2AService, AdminBackups, AdminMesh, AdminReplica, AdminStore, Agent, CardSigner, Fetch } from '#protocol';
import type { AuthMethod } from './access/authentication/auth-method.ts';
import type { Authenticate } from './access/authentication/caller.ts';
import type { HostOriginOptions } from './access/host-origin.ts';
import type { CallerCounts } from './access/limits/caller-counts.ts';
import type { AgentLike, ServedAgent } from './agents/served-agent.ts';
import type { AuditLog } from './audit/audit.ts';
import type { ServerLimits } from './limits.ts';
import type { CallRecord } from './observability/call-records.ts';
import type { Log } from './observability/log.ts';
import type { Metrics } from './observability/metrics.ts';
import type { OtelApi } from './observability/tracing.ts';
import type { Outbound } from './outbound/port.ts';
import type { NodeKeys } from './push/signing-keys.ts';

/** The most that one principal may have at once. Calls beyond it fail with RATE_LIMITED. */
export interface Quota {
  /** Maximum number of running tasks. Absent: no limit. */
  readonly runningTasksMax?: number;
  /** Maximum number of open streams. Absent: no limit. */
  readonly streamsMax?: number;
}

/** Offers agents as MCP tools: `mcpMount` of `parley-a2a/tools/mcp`. */
export type McpMount = (agents: readonly ServedAgent[]) => (request: Request, caller: Caller) => Promise<Response>;

/** Shows the mesh that a node belongs to in its admin API: `meshView` of `parley-a2a/mesh`. */
export interface MeshPort {
  /** The mesh as this node sees it. */
  shown(): AdminMesh;
  /** An agent of the mesh that operators can call through this node. */
  agent(name: string): Agent | undefined;
}

/** One of several nodes on a database, as its readiness probe shows it. */
export interface ReplicaState {
  /** Number of nodes on the database, with this one. */
  readonly replicas: number;
  /** Number of cells that this node owns. */
  readonly cells: number;
  /** Milliseconds until its lease ends, unless it renews it. */
  readonly leaseMs: number;
}

/** What `createHandler` and `serve` have in common. */
export interface ServingOptions extends HostOriginOptions {
  /** Stores tasks. Default: in memory. The server closes it. */
  readonly store?: Store;
  /** Stores large content outside the log. Default: it stays in the log. */
  readonly blobs?: Blobs;
  /** Overrides of the default limits; docs/config.md lists them. */
  readonly limits?: Partial<ServerLimits & EngineLimits>;
  /**
   * The quota of a principal of a tenant, by their ids. The same id in two tenants is two principals.
   * Default: the limits `callerTasksMax` and `callerStreamsMax`, and no quota for `local`.
   */
  readonly quotaOf?: (principal: string, tenant: string) => Quota | undefined;
  /**
   * Ways to authenticate callers; any one suffices. Cards declare them. Default: none, and every caller
   * is the principal `local`.
   */
  readonly auth?: readonly AuthMethod[];
  /**
   * Your own authentication function, instead of `auth`. Cards then declare what the agents' own cards
   * declare.
   */
  readonly authenticate?: Authenticate;
  /** Records refusals and changes. The server closes it. */
  readonly audit?: AuditLog;
  /**
   * `superset` (default) serves cards that clients of every version read, `strict` pure 1.0, `scope-lists` what a2a-go 2 reads. A client
   * can ask for another form with `?card=`.
   */
  readonly card?: 'superset' | 'strict' | 'scope-lists';
  /** The domain that publishes the agents, for the catalog. */
  readonly publisher?: string;
  /**
   * `messageId`: a repeated message id always attaches to the first task. Default `key`; see
   * docs/engine.md.
   */
  readonly idempotency?: 'key' | 'messageId';
  /** Refuses 1.0 calls without an `A2A-Version` header, as A2A 1.0.1 §3.6.2 requires. */
  readonly versionRequired?: boolean;
  /** Signs page tokens: at least 32 bytes, the same for every process that serves the same store. */
  readonly secret?: Uint8Array<ArrayBuffer>;
  /**
   * Sends webhook deliveries: `createOutbound()` of `parley-a2a/server/outbound`. Without it, webhooks
   * are off and the cards say so.
   */
  readonly outbound?: Outbound;
  /**
   * Sign webhook deliveries and encrypt webhook credentials. Default: created for this process. With a
   * `store` of your own, webhooks then can't have credentials, because the next process could not
   * decrypt them.
   */
  readonly keys?: NodeKeys;
  /** Carries answers to a broker: `joinMesh()` of `parley-a2a/mesh` has one. */
  readonly replyPublisher?: ReplyPublisher;
  /** Shows the mesh in the admin API: `meshView` of `parley-a2a/mesh`. */
  readonly mesh?: MeshPort;
  /** Backs up the data of the node for `POST /api/parley/v1/backup`. */
  readonly backups?: AdminBackups;
  /** The files of the store, for the admin API. */
  readonly storeFiles?: AdminStore;
  /** Why the store can't be used until somebody has corrected its database, for `/readyz`. Undefined: it can. */
  readonly storeProblem?: () => string | undefined;
  /** What callers use on other nodes of the same database. Limits of each caller hold for all nodes together. Absent: for this node. */
  readonly callerCounts?: CallerCounts;
  /** The other nodes on the same database, which erase their part of a caller's data. */
  readonly erasePeers?: ErasePeers;
  /** The nodes on the same database, for the admin API. */
  readonly replicas?: () => Promise<readonly AdminReplica[]>;
  /** This node among those on the same database, for `/readyz`. Undefined: it has not joined them yet. */
  readonly replicaState?: () => ReplicaState | undefined;
  /** Wraps the service of an agent on a database that several nodes share, so that its streams continue at whichever node has the task. */
  readonly routed?: (service: A2AService, agent: string) => A2AService;
  /** Default: nothing is logged. */
  readonly log?: Log;
  /** Default: a new set, which `/metrics` serves. */
  readonly metrics?: Metrics;
  /** What `/metrics` serves, for a node that is one of several workers. Default: the text of `metrics`. */
  readonly metricsText?: () => Promise<string>;
  /** Default: `@opentelemetry/api`, if it is installed. `false` turns tracing off. */
  readonly otel?: OtelApi | false;
  /** Wraps every run of an agent, for example to set an `AsyncLocalStorage`. */
  readonly aroundRun?: AroundRun;
  /**
   * Tells a caller on this machine, of a node without authentication, what an agent threw. Others read
   * only that the agent failed. Default false.
   */
  readonly tellCauses?: boolean;
  /**
   * What the start does with unfinished tasks of agents that this node does not have. `fail`: they fail.
   * `wait`: they stay as they are, readable for operators, until a start that has the agent. Default `fail`.
   */
  readonly missingAgents?: 'fail' | 'wait';
  /** Called after each call of an agent, and after each request that was refused before it. */
  readonly onCall?: (call: CallRecord) => void;
  /** Sends the console's requests to agents on other nodes. Default: `outbound`. */
  readonly relay?: Fetch;
  /** The version that `/api/parley/v1/health` reports. */
  readonly version?: string;
  /**
   * The address of a trace, with `{traceId}` in it, for links in the console. Each task then has the id of its trace in its metadata.
   */
  readonly traceUrl?: string;
  /** Serves the files of the web console. */
  readonly console?: (path: string) => HttpResponse | Promise<HttpResponse>;
  /** Serves the documentation at `/docs/`. */
  readonly docs?: (path: string) => HttpResponse | Promise<HttpResponse>;
  /**
   * More agents by name. Their tasks are recovered at the start, and `Handler.add` and `remove` can
   * replace them later.
   */
  readonly known?: ReadonlyMap<string, Agent>;
  /**
   * Signs the cards. Set `url` too: without it the cards contain the host name that the caller chose.
   */
  readonly signer?: CardSigner;
  /**
   * `serve`: serves HTTP/2 on the same port, and gRPC, gRPC-Web and Connect; default true.
   * `createHandler`: the host serves them, so cards name them; default false.
   */
  readonly grpc?: boolean;
  /** The AG-UI endpoint. `onHangUp`: what happens to a task when its front end disconnects; default `continue`. */
  readonly agUi?: { readonly onHangUp?: OnHangUp };
  /** Serves `/mcp`. */
  readonly mcp?: McpMount;
  /** While it returns true, new sends and streams are refused with UNAVAILABLE. */
  readonly isOverloaded?: () => boolean;
  /** Called when the store has failed permanently. The process should exit. */
  readonly onBroken?: (cause: unknown) => void;
}

/** Options of `createHandler`. */
export interface HandlerOptions extends ServingOptions {
  /** The first agent is at the root; every agent is also at `/agents/{name}/`. */
  readonly agents: AgentLike | readonly AgentLike[];
  /**
   * Called after the recovery of tasks, to accept connections. Returns where. The node is ready, and says so in its log, when it has resolved;
   * if it rejects, `ready` rejects.
   */
  readonly listen?: () => Promise<string>;
}
