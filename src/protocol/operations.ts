import type { AgentCard } from './card.ts';
import type { TaskEvent } from './events.ts';
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

/** The operations that a caller can ask for. `card` is the public card over RPC, which only Cortex has as a method. */
export const OPERATIONS = [
  'send',
  'stream',
  'get',
  'list',
  'cancel',
  'subscribe',
  'push.create',
  'push.get',
  'push.list',
  'push.delete',
  'extendedCard',
  'card',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Answered by a stream of events, not by one result. */
export type StreamOperation = 'stream' | 'subscribe';
export type UnaryOperation = Exclude<Operation, StreamOperation>;

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

/** Everything a dialect can put on a wire, by name: `send.request`, `get.result`, `event`. */
export type Shapes = { readonly [Op in Operation as `${Op}.request`]: Requests[Op] } & {
  readonly [Op in UnaryOperation as `${Op}.result`]: Results[Op];
} & { readonly event: TaskEvent };
export type Shape = keyof Shapes;

export function isStreamOperation(operation: Operation): operation is StreamOperation {
  return operation === 'stream' || operation === 'subscribe';
}
