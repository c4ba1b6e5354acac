import type {
  A2AService,
  CallContext,
  Decoded,
  Dialect,
  EventStream,
  Json,
  Logged,
  Operation,
  ReadEnv,
  Requests,
  Results,
  SendResult,
  Shape,
  Shapes,
  StreamOperation,
  Task,
  TaskEvent,
  UnaryOperation,
} from '#protocol';
import { A2AError, createTaskStatus, invalidParams, isA2AError, isTerminal, taskId } from '#protocol';
import type { ServeOptions } from './options.ts';

/** One call that has been read and not yet made. */
export interface Call<Op extends Operation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
  readonly dialect: Dialect;
}

type Calls = { readonly [Op in UnaryOperation]: (service: A2AService, request: Requests[Op], ctx: CallContext) => Promise<Results[Op]> };

const CALLS: Omit<Calls, 'card'> = {
  send: (service, request, ctx) => service.send(request, ctx),
  get: (service, request, ctx) => service.get(request, ctx),
  list: (service, request, ctx) => service.list(request, ctx),
  cancel: (service, request, ctx) => service.cancel(request, ctx),
  'push.create': (service, request, ctx) => service.push.create(request, ctx),
  'push.get': (service, request, ctx) => service.push.get(request, ctx),
  'push.list': (service, request, ctx) => service.push.list(request, ctx),
  'push.delete': async (service, request, ctx) => {
    await service.push.delete(request, ctx);
    return null;
  },
  extendedCard: (service, request, ctx) => service.extendedCard(request, ctx),
};

export interface Reading {
  readonly dialect: Dialect;
  readonly env: ReadEnv;
}

/** Decodes what a caller sent. `not-in-dialect` and `invalid` are two errors, never one. */
export function requestOf<Op extends Operation>(operation: Op, raw: unknown, { dialect, env }: Reading): Requests[Op] {
  const decoded = dialect.decode(`${operation}.request` as Shape, raw, env) as Decoded<unknown>;
  if (decoded.ok) return decoded.value as Requests[Op];
  if (decoded.reason === 'not-in-dialect') throw new A2AError('METHOD_NOT_FOUND', `${dialect.title} has no ${operation}`);
  throw invalidParams(decoded);
}

/** Calls, and writes the answer in the caller's dialect. Where dialects behave differently, their traits say how. */
export async function answerUnary<Op extends UnaryOperation>(call: Call<Op>, service: A2AService, options: ServeOptions): Promise<Json> {
  const shape = `${call.operation}.result` as Shape;
  const write = (value: unknown): Json => call.dialect.encode(shape, value as Shapes[Shape]);
  if (call.operation === 'card') return write(await publicCard(options));
  const run = CALLS[call.operation as Exclude<UnaryOperation, 'card'>] as (
    service: A2AService,
    request: unknown,
    ctx: CallContext,
  ) => Promise<unknown>;
  try {
    const value = await run(service, call.request, call.ctx);
    return write(call.operation === 'send' ? underItsName(value as SendResult, call as unknown as Call<'send'>) : value);
  } catch (thrown) {
    const instead = await insteadOf(thrown, call as unknown as Call<Operation>, service);
    if (instead === undefined) throw thrown;
    return instead === null ? null : write(instead);
  }
}

async function publicCard(options: ServeOptions): Promise<unknown> {
  if (options.card === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'the card is not served by this method');
  return await options.card();
}

/** What a dialect answers in place of an error: null for a task that is not there, the task for one that is over. */
async function insteadOf(thrown: unknown, call: Call<Operation>, service: A2AService): Promise<Task | null | undefined> {
  if (!isA2AError(thrown) || (call.operation !== 'get' && call.operation !== 'cancel')) return undefined;
  const { unknownTask, cancelFinished } = call.dialect.traits;
  if (thrown.kind === 'TASK_NOT_FOUND' && unknownTask === 'null') return null;
  if (thrown.kind !== 'TASK_NOT_CANCELABLE' || cancelFinished !== 'returns-task') return undefined;
  return await service.get(taskOnly(call as unknown as Call<'cancel'>), call.ctx);
}

function taskOnly({ request }: Call<'cancel' | 'subscribe'>): Requests['get'] {
  return request.tenant === undefined ? { id: request.id } : { id: request.id, tenant: request.tenant };
}

/**
 * A caller that named the task, in a dialect that has only tasks, is answered with a task of that name even where there is
 * none: only here both are known. Where the server names tasks, the dialect makes up one of its own.
 */
function underItsName<T extends SendResult | TaskEvent>(answer: T, { dialect, request }: Call<'send' | 'stream'>): T | { task: Task } {
  const { message } = answer;
  if (message === undefined || request.alias === undefined || dialect.traits.directMessage !== 'as-task') return answer;
  const context = message.contextId ?? request.message.contextId;
  const status = createTaskStatus('TASK_STATE_COMPLETED', message);
  return { task: { id: taskId(request.alias), ...(context === undefined ? {} : { contextId: context }), status } };
}

type Batch = readonly Logged[];

/** A stream opened as far as its first batch: what goes wrong before that is an error, not a stream. */
export interface OpenStream {
  readonly first: IteratorResult<Batch, unknown>;
  readonly rest: AsyncIterator<Batch, unknown>;
}

export async function openStream(call: Call<StreamOperation>, service: A2AService): Promise<OpenStream> {
  const rest = eventsOf(call, service)[Symbol.asyncIterator]();
  try {
    const first = await rest.next();
    return { first: call.operation === 'stream' ? firstUnderItsName(first, call as Call<'stream'>) : first, rest };
  } catch (thrown) {
    const task = await finishedTask(thrown, call, service);
    if (task === undefined) throw thrown;
    return { first: { done: false, value: [{ event: { task } }] }, rest: { next: async () => ({ done: true, value: undefined }) } };
  }
}

/** A direct message is the first event of its stream, and the only one. */
function firstUnderItsName(first: OpenStream['first'], call: Call<'stream'>): OpenStream['first'] {
  if (first.done === true) return first;
  return { done: false, value: first.value.map((logged) => ({ ...logged, event: underItsName(logged.event, call) })) };
}

function eventsOf(call: Call<StreamOperation>, service: A2AService): EventStream {
  if (call.operation === 'stream') return service.stream((call as Call<'stream'>).request, call.ctx);
  return service.subscribe((call as Call<'subscribe'>).request, call.ctx);
}

/** 0.3 subscribes to a finished task by being handed it; 1.0 refuses. The service refuses, and this makes up for it. */
async function finishedTask(thrown: unknown, call: Call<StreamOperation>, service: A2AService): Promise<Task | undefined> {
  if (call.operation !== 'subscribe' || call.dialect.traits.subscribeFinished !== 'returns-task' || !isA2AError(thrown)) return undefined;
  if (thrown.kind !== 'UNSUPPORTED_OPERATION' && thrown.kind !== 'TASK_FINISHED') return undefined;
  const task = await service.get(taskOnly(call as Call<'subscribe'>), call.ctx);
  return isTerminal(task.status.state) ? task : undefined;
}
