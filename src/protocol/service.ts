import type { AgentCard } from './card.ts';
import type { EventStream } from './events.ts';
import type { DialectId, TaskId, TenantId } from './ids.ts';
import type { Metadata } from './json.ts';
import type { PushConfig } from './push.ts';
import type {
  CancelRequest,
  ExtendedCardRequest,
  GetRequest,
  ListRequest,
  PushDeleteRequest,
  PushGetRequest,
  PushListRequest,
  PushPage,
  SendRequest,
  SendResult,
  SubscribeRequest,
  TaskPage,
} from './requests.ts';
import type { Task } from './task.ts';

/** Who is calling. Everything that is stored belongs to one; open loopback is one principal, `local`. */
export interface Principal {
  readonly id: string;
  readonly scopes: readonly string[];
}

export const LOCAL_PRINCIPAL: Principal = { id: 'local', scopes: ['*'] };

/** W3C trace context, carried through unread. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** How a call came in, for the audit log. */
export interface RequestFacts {
  /** One of the server's own; the caller hears it in `X-Request-Id` when it is refused. */
  readonly id: string;
  /** The address it came from, as far as that can be trusted. */
  readonly client?: string;
}

/**
 * Where a call departs from A2A 1.0 semantics. `behave` sets these from the traits of the caller's dialect; a service reads these and never a trait.
 * Everything is off by default.
 */
export interface CallSemantics {
  /**
   * The caller names tasks: `request.alias` continues, or makes, the task of that name, and answers carry that name as the task's id.
   * `once`: a finished task's name takes no further message. `reusable`: the next message under that name starts a new task in its context.
   */
  readonly taskNames?: 'reusable' | 'once';
  /** A message with a context id and no task id continues the one waiting task of that context. */
  readonly continuesByContext?: true;
  /** The dialect made the message id up: it does not identify a repeated send. */
  readonly mintedMessageId?: true;
  /** Every answer is a task: the engine keeps an agent's direct message as the status message of a completed task. */
  readonly tasksOnly?: true;
  /** Subscribing to a finished task yields its snapshot and ends. Absent: it is an error (A2A 1.0.1 §3.1.6). */
  readonly showsFinished?: true;
}

/** What a call brings besides its request. */
export interface CallContext {
  readonly principal: Principal;
  /** Of the credential: a request that names another is refused. Absent: the request's own word keeps this caller's things apart. */
  readonly tenant?: TenantId;
  readonly request?: RequestFacts;
  readonly dialect: DialectId;
  /** Absent: A2A 1.0 semantics. */
  readonly semantics?: CallSemantics;
  /** Extension URIs the caller asked for. */
  readonly extensions: readonly string[];
  readonly idempotencyKey?: string;
  /** Fires when the caller has left. A task outlives it. */
  readonly signal: AbortSignal;
  readonly trace?: TraceContext;
  /**
   * A host that can tell when its answer has gone out gives this: a service calls it at most once, with what is to happen then. The host
   * calls `mark` when the response was written whole, and never if the caller left before. Without it an answer counts as delivered
   * when it is returned, and a stream when it was read to its end. A repeat of a send whose answer was delivered is a new send.
   */
  onDelivered?(mark: () => void): void;
  /**
   * Where the answer to a send goes besides to the call itself: an address that the service's own way out knows. It is kept with the message,
   * so that the answer goes there even if the process dies in between. Only bindings set it: what a caller writes must never reach it unchecked.
   */
  readonly reply?: string;
  /** For the metadata of the task that a send makes, under names that no caller may use (`withoutNotes`). Only bindings set it. */
  readonly notes?: Metadata;
}

/**
 * The operations of A2A, in canonical terms. Engine, proxy, mesh route and mock implement it; so does every client link.
 * Cross-cutting work is a decorator, `(next: A2AService) => A2AService`. Failures are thrown `A2AError`s.
 */
export interface A2AService {
  send(request: SendRequest, ctx: CallContext): Promise<SendResult>;
  stream(request: SendRequest, ctx: CallContext): EventStream;
  get(request: GetRequest, ctx: CallContext): Promise<Task>;
  list(request: ListRequest, ctx: CallContext): Promise<TaskPage>;
  cancel(request: CancelRequest, ctx: CallContext): Promise<Task>;
  subscribe(request: SubscribeRequest, ctx: CallContext): EventStream;
  readonly push: PushService;
  extendedCard(request: ExtendedCardRequest, ctx: CallContext): Promise<AgentCard>;
  /** The dialect a task was made in, for requests whose shape does not tell. Absent: not remembered here. */
  originOf?(task: TaskId, ctx: CallContext): DialectId | undefined;
  /** The service honours `reply` of a call. Absent: the caller has to read the stream. */
  readonly keepsReplies?: true;
}

export interface PushService {
  create(config: PushConfig, ctx: CallContext): Promise<PushConfig>;
  get(request: PushGetRequest, ctx: CallContext): Promise<PushConfig>;
  list(request: PushListRequest, ctx: CallContext): Promise<PushPage>;
  delete(request: PushDeleteRequest, ctx: CallContext): Promise<void>;
}
