import type { AgentCard } from './card.ts';
import { A2AError } from './errors.ts';
import type { EventStream, TaskEvent } from './events.ts';
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
import type { A2AService, CallContext } from './service.ts';
import type { Task } from './task.ts';

/**
 * The canonical request of each operation. `card` fetches the public card over RPC, which only Cortex
 * offers as a method.
 */
export interface Requests {
  readonly send: SendRequest;
  readonly stream: SendRequest;
  readonly get: GetRequest;
  readonly list: ListRequest;
  readonly cancel: CancelRequest;
  readonly subscribe: SubscribeRequest;
  readonly 'push.create': PushConfig;
  readonly 'push.get': PushGetRequest;
  readonly 'push.list': PushListRequest;
  readonly 'push.delete': PushDeleteRequest;
  readonly extendedCard: ExtendedCardRequest;
  readonly card: ExtendedCardRequest;
}

/** The result of each operation that answers with one value. */
export interface Results {
  readonly send: SendResult;
  readonly get: Task;
  readonly list: TaskPage;
  readonly cancel: Task;
  readonly 'push.create': PushConfig;
  readonly 'push.get': PushConfig;
  readonly 'push.list': PushPage;
  readonly 'push.delete': null;
  readonly extendedCard: AgentCard;
  readonly card: AgentCard;
}

/** Name of an A2A operation. */
export type Operation = keyof Requests;
/** Operations that answer with one result. */
export type UnaryOperation = keyof Results;
/** Operations that answer with a stream of events. */
export type StreamOperation = Exclude<Operation, UnaryOperation>;

/** Row of `OPERATIONS` for an operation with one result. */
export interface UnarySpec<Op extends UnaryOperation> {
  readonly streams: false;
  /** Scope that the caller must have. Absent when none is needed. */
  readonly scope?: string;
  /** Calls the matching method of a service. */
  call(service: A2AService, request: Requests[Op], ctx: CallContext): Promise<Results[Op]>;
}

/** Row of `OPERATIONS` for an operation with a stream. */
export interface StreamSpec<Op extends StreamOperation> {
  readonly streams: true;
  /** Scope that the caller must have. Absent when none is needed. */
  readonly scope?: string;
  /** Calls the matching method of a service. Errors reject the first `next()`. */
  call(service: A2AService, request: Requests[Op], ctx: CallContext): EventStream;
}

/** The rows of `OPERATIONS` with one result. */
export type UnaryOperations = { readonly [Op in UnaryOperation]: UnarySpec<Op> };
/** The rows of `OPERATIONS` with a stream. */
export type StreamOperations = { readonly [Op in StreamOperation]: StreamSpec<Op> };

/**
 * Every operation of A2A: how to call a service with it, whether it streams, and the scope that it
 * needs. Bindings, links, access checks and the command line read this table.
 *
 * ```ts
 * const task = await OPERATIONS.get.call(service, { id }, ctx);
 * ```
 */
export const OPERATIONS: UnaryOperations & StreamOperations = {
  send: { streams: false, scope: 'tasks:write', call: (service, request, ctx) => service.send(request, ctx) },
  stream: { streams: true, scope: 'tasks:write', call: (service, request, ctx) => service.stream(request, ctx) },
  get: { streams: false, scope: 'tasks:read', call: (service, request, ctx) => service.get(request, ctx) },
  list: { streams: false, scope: 'tasks:read', call: (service, request, ctx) => service.list(request, ctx) },
  cancel: { streams: false, scope: 'tasks:cancel', call: (service, request, ctx) => service.cancel(request, ctx) },
  subscribe: { streams: true, scope: 'tasks:read', call: (service, request, ctx) => service.subscribe(request, ctx) },
  'push.create': { streams: false, scope: 'push:write', call: (service, request, ctx) => service.push.create(request, ctx) },
  'push.get': { streams: false, scope: 'tasks:read', call: (service, request, ctx) => service.push.get(request, ctx) },
  'push.list': { streams: false, scope: 'tasks:read', call: (service, request, ctx) => service.push.list(request, ctx) },
  'push.delete': {
    streams: false,
    scope: 'push:write',
    call: (service, request, ctx) => service.push.delete(request, ctx).then(() => null),
  },
  extendedCard: { streams: false, scope: 'card:extended', call: (service, request, ctx) => service.extendedCard(request, ctx) },
  card: {
    streams: false,
    // A service does not know its public card: the server does.
    call: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION', 'the card is not served by this method')),
  },
};

/** The names of all operations. */
export const OPERATION_NAMES: readonly Operation[] = Object.keys(OPERATIONS).filter(isOperation);

/** Whether a text is the name of an operation. */
function isOperation(name: string): name is Operation {
  return Object.hasOwn(OPERATIONS, name);
}

/** Everything that a dialect can encode and decode, by name: `send.request`, `get.result`, `event`. */
export type Shapes = { readonly [Op in Operation as `${Op}.request`]: Requests[Op] } & {
  readonly [Op in UnaryOperation as `${Op}.result`]: Results[Op];
} & { readonly event: TaskEvent };
/** Name of something that a dialect can encode. */
export type Shape = keyof Shapes;

/** Whether the operation answers with a stream. Narrows its type. */
export function isStreamOperation(operation: Operation): operation is StreamOperation {
  return OPERATIONS[operation].streams;
}
