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
  Shape,
  Shapes,
  StreamOperation,
  UnaryOperation,
} from '#protocol';
import { A2AError, invalidParams, isA2AError } from '#protocol';
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

/** Calls a service that behaves as the caller's dialect expects, and writes its result in that dialect. */
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
    return write(await run(service, call.request, call.ctx));
  } catch (thrown) {
    if (isWrittenAsNull(thrown, call)) return null;
    throw thrown;
  }
}

function isWrittenAsNull(thrown: unknown, { operation, dialect }: { readonly operation: Operation; readonly dialect: Dialect }): boolean {
  if (dialect.wire.nullForUnknownTask !== true || (operation !== 'get' && operation !== 'cancel')) return false;
  return isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND';
}

async function publicCard(options: ServeOptions): Promise<unknown> {
  if (options.card === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'the card is not served by this method');
  return await options.card();
}

type Batch = readonly Logged[];

/** A stream opened as far as its first batch: what goes wrong before that is an error, not a stream. */
export interface OpenStream {
  readonly first: IteratorResult<Batch, unknown>;
  readonly rest: AsyncIterator<Batch, unknown>;
}

export async function openStream(call: Call<StreamOperation>, service: A2AService): Promise<OpenStream> {
  const rest = eventsOf(call, service)[Symbol.asyncIterator]();
  return { first: await rest.next(), rest };
}

function eventsOf(call: Call<StreamOperation>, service: A2AService): EventStream {
  if (call.operation === 'stream') return service.stream((call as Call<'stream'>).request, call.ctx);
  return service.subscribe((call as Call<'subscribe'>).request, call.ctx);
}
