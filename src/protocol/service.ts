import type { AgentCard } from './card.ts';
import type { ConversationPage, ConversationRequest } from './conversation.ts';
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

/**
 * An authenticated caller. Everything that is stored belongs to one principal. On an open loopback node
 * every caller is the principal `local`.
 */
export interface Principal {
  /** Unique on the node. It owns tasks, so it must stay the same for a caller. */
  readonly id: string;
  /** What the caller may do, for example `tasks:read`. `*` allows everything. */
  readonly scopes: readonly string[];
}

/** The caller on a node without authentication, which is reachable over loopback only. */
export const LOCAL_PRINCIPAL: Principal = { id: 'local', scopes: ['*'] };

/** W3C trace context, passed on without being parsed. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** How a call arrived, for the log and the audit log. */
export interface RequestFacts {
  /** Id of the request: the caller's `X-Request-Id`, or one that the server made. Every response carries it. */
  readonly id: string;
  /** Network address of the caller. Taken from a proxy's header only when that proxy is trusted. */
  readonly client?: string;
  /** The node authenticates nobody. */
  readonly isOpen?: true;
}

/**
 * How a call differs from A2A 1.0 semantics. `behave` sets these from the traits of the caller's
 * dialect. A service reads only these, never a trait. Everything is off by default.
 */
export interface CallSemantics {
  /**
   * The caller names tasks: `request.alias` continues or creates the task of that name, and answers
   * carry the name as the task's id. `once`: the name of a finished task accepts no further message.
   * `reusable`: the next message under that name starts a new task in the same context.
   */
  readonly taskNames?: 'reusable' | 'once';
  /** A message with a context id and no task id continues the only waiting task of that context. */
  readonly continuesByContext?: true;
  /** The dialect generated the message id, so it does not identify a repeated send. */
  readonly mintedMessageId?: true;
  /**
   * Every answer is a task. The engine stores a direct message of the agent as the status message of a
   * completed task.
   */
  readonly tasksOnly?: true;
  /**
   * Subscribing to a finished task yields its snapshot and ends. Otherwise it is an error (A2A 1.0.1
   * §3.1.6).
   */
  readonly showsFinished?: true;
  /** A subscription ends when the task asks its caller something. Otherwise it continues. */
  readonly subscriptionEndsOnQuestion?: true;
  /**
   * The stream of a send stays open while a run waits for an answer, if the agent has `questionsKeepStream`. Otherwise it ends at every
   * question.
   */
  readonly streamsThroughQuestions?: true;
  /** Canceling a canceled task again is an error. Otherwise the task is returned (A2A 1.0.1 §3.3.1). */
  readonly cancelsOnce?: true;
  /** Maximum time that a send waits. It then answers with the unfinished task. */
  readonly sendMsMax?: number;
}

/** Everything about a call besides its request. */
export interface CallContext {
  /** The authenticated caller. */
  readonly principal: Principal;
  /**
   * Tenant of the credential; a request for another tenant is rejected. Absent: the tenant in the
   * request separates data within this caller.
   */
  readonly tenant?: TenantId;
  /** Facts about the HTTP request, for the log and the audit log. */
  readonly request?: RequestFacts;
  /** Dialect of the caller. */
  readonly dialect: DialectId;
  /** Absent: A2A 1.0 semantics. */
  readonly semantics?: CallSemantics;
  /** URIs of the extensions that the caller activated. */
  readonly extensions: readonly string[];
  /** Identifies a repeated send. Takes precedence over the message id. */
  readonly idempotencyKey?: string;
  /** Identifies a send that a replica repeats, if it has neither an idempotency key nor a message id that identifies it. */
  readonly retryKey?: string;
  /**
   * The task on whose behalf an agent of the same process makes this call. Where several processes share the tasks, a new conversation then
   * belongs to the process that has this task, also if it moves to another one.
   */
  readonly beside?: TaskId;
  /** Aborted when the caller disconnects. The task continues. */
  readonly signal: AbortSignal;
  /** The caller's trace context, if it sent one. */
  readonly trace?: TraceContext;
  /**
   * Set by hosts that know when a response has been sent. A service calls it at most once with a
   * callback; the host calls `mark` after the whole response was written, and never if the caller
   * disconnected before. Without this method a result counts as delivered when it is returned, and a
   * stream when it was read to its end. A repetition of a send whose answer was delivered is a new
   * send.
   */
  onDelivered?(mark: () => void): void;
  /** A service calls it when it has accepted the message of a send, with the task that the message went to. */
  onAdmitted?(task: TaskId): void;
  /**
   * A service calls it just before it fails because another process of the cluster has to deal with the call, with the cell that the call
   * belongs to and the name of its agent. Nothing was changed or answered, so the same request can be sent to the owner of that cell.
   */
  onElsewhere?(cell: number, agent: string): void;
  /** Set for a call that another process of the cluster has forwarded: the name of the agent that it is for. No other agent answers it. */
  readonly forAgent?: string;
  /**
   * Set instead of `onElsewhere` for a cancel or a `forget` that follows the answer to another request, as when its caller leaves: no request
   * could be sent to the owner of the task in its place, so the service itself asks the owner.
   */
  readonly followsAnswer?: true;
  /**
   * Additional address for the answer to a send, in a form that only the service's own outbox
   * understands. It is stored with the message, so that the answer is sent even after a crash. Only
   * bindings set it. Never copy caller input into it without a check.
   */
  readonly reply?: string;
  /**
   * Metadata for the task that a send creates, under names that callers can't use (`withoutNotes`).
   * Only bindings set it.
   */
  readonly notes?: Metadata;
}

/**
 * The operations of A2A with canonical requests and results. Engine, proxy, mesh and mock implement it,
 * and so does every client link. Wrap it for cross-cutting work: `(next: A2AService) => A2AService`.
 * Methods fail with an `A2AError`.
 */
export interface A2AService {
  /** Sends a message and returns the task or the answer. */
  send(request: SendRequest, ctx: CallContext): Promise<SendResult>;
  /** Sends a message and yields events until the task ends or needs input. */
  stream(request: SendRequest, ctx: CallContext): EventStream;
  /** Reads a task. Fails with `TASK_NOT_FOUND`, also for tasks of other callers. */
  get(request: GetRequest, ctx: CallContext): Promise<Task>;
  /** Lists the caller's tasks. */
  list(request: ListRequest, ctx: CallContext): Promise<TaskPage>;
  /** Cancels a task. Fails with `TASK_NOT_CANCELABLE` when it is finished. */
  cancel(request: CancelRequest, ctx: CallContext): Promise<Task>;
  /** Follows a task: first its snapshot, or the events after a cursor, then new events. */
  subscribe(request: SubscribeRequest, ctx: CallContext): EventStream;
  /** Webhooks of a task. */
  readonly push: PushService;
  /** The card for authenticated callers. */
  extendedCard(request: ExtendedCardRequest, ctx: CallContext): Promise<AgentCard>;
  /**
   * Dialect in which a task was created, for requests whose form does not reveal a dialect. A promise if
   * the service has to read it first. Absent: the service does not store it.
   */
  originOf?(task: TaskId, ctx: CallContext): DialectId | undefined | Promise<DialectId | undefined>;
  /**
   * The messages of one of the caller's contexts, newest page first. Not an operation of A2A: bridges to
   * other protocols use it. Absent: the service stores no messages.
   */
  conversation?(request: ConversationRequest, ctx: CallContext): Promise<ConversationPage>;
  /**
   * Deletes one of the caller's tasks; a running one is canceled first. Not an operation of A2A: bridges
   * to other protocols use it. Absent: the service can't delete tasks.
   */
  forget?(request: GetRequest, ctx: CallContext): Promise<void>;
  /**
   * The service honours `CallContext.reply`. Absent: the binding must read the stream and send the
   * reply itself.
   */
  readonly keepsReplies?: true;
}

/** Create, read, list and delete the webhooks of a task. */
export interface PushService {
  create(config: PushConfig, ctx: CallContext): Promise<PushConfig>;
  get(request: PushGetRequest, ctx: CallContext): Promise<PushConfig>;
  list(request: PushListRequest, ctx: CallContext): Promise<PushPage>;
  delete(request: PushDeleteRequest, ctx: CallContext): Promise<void>;
}
