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

/** The request of each operation. `card` is the public card over RPC, which only Cortex has as a method. */
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

export type Operation = keyof Requests;
/** The operations that answer with one result. */
export type UnaryOperation = keyof Results;
/** The operations that answer with a stream of events. */
export type StreamOperation = Exclude<Operation, UnaryOperation>;

/** What is the same for every operation that answers with one result. */
export interface UnarySpec<Op extends UnaryOperation> {
  readonly streams: false;
  /** The scope that the caller needs. Absent: none. */
  readonly scope?: string;
  call(service: A2AService, request: Requests[Op], ctx: CallContext): Promise<Results[Op]>;
}

/** What is the same for every operation that answers with a stream. */
export interface StreamSpec<Op extends StreamOperation> {
  readonly streams: true;
  readonly scope?: string;
  call(service: A2AService, request: Requests[Op], ctx: CallContext): EventStream;
}

export type UnaryOperations = { readonly [Op in UnaryOperation]: UnarySpec<Op> };
export type StreamOperations = { readonly [Op in StreamOperation]: StreamSpec<Op> };

/**
 * Every operation of A2A: how a service is called with it, whether it streams, and the scope it needs. Bindings, links, access checks and the
 * command line read this table.
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

export const OPERATION_NAMES: readonly Operation[] = Object.keys(OPERATIONS).filter(isOperation);

export function isOperation(name: string): name is Operation {
  return Object.hasOwn(OPERATIONS, name);
}

/** Everything a dialect can put on a wire, by name: `send.request`, `get.result`, `event`. */
export type Shapes = { readonly [Op in Operation as `${Op}.request`]: Requests[Op] } & {
  readonly [Op in UnaryOperation as `${Op}.result`]: Results[Op];
} & { readonly event: TaskEvent };
export type Shape = keyof Shapes;

export function isStreamOperation(operation: Operation): operation is StreamOperation {
  return OPERATIONS[operation].streams;
}
