import type {
  A2AService,
  CallContext,
  Dialect,
  EventStream,
  Json,
  Logged,
  Operation,
  Requests,
  UnaryOperation,
  UnaryOperations,
} from '#protocol';
import { isA2AError, OPERATIONS } from '#protocol';
import { encodeResult } from './codec.ts';

/** A call whose request has been read. */
export interface UnaryCall<Op extends UnaryOperation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
  readonly dialect: Dialect;
}

const UNARY: UnaryOperations = OPERATIONS;

/** Calls a service that behaves as the caller's dialect expects, and writes its result in that dialect. */
export async function answerUnary<Op extends UnaryOperation>(call: UnaryCall<Op>, service: A2AService): Promise<Json> {
  const { operation, request, ctx, dialect } = call;
  try {
    return encodeResult(operation, await UNARY[operation].call(service, request, ctx), dialect);
  } catch (thrown) {
    if (isWrittenAsNull(thrown, operation, dialect)) return null;
    throw thrown;
  }
}

function isWrittenAsNull(thrown: unknown, operation: Operation, dialect: Dialect): boolean {
  if (dialect.wire.nullForUnknownTask !== true || (operation !== 'get' && operation !== 'cancel')) return false;
  return isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND';
}

type Batch = readonly Logged[];

/** A stream that is open as far as its first batch: a failure before that is an error response and no stream. */
export interface OpenStream {
  readonly first: IteratorResult<Batch, unknown>;
  readonly rest: AsyncIterator<Batch, unknown>;
}

export async function openStream(events: EventStream): Promise<OpenStream> {
  const rest = events[Symbol.asyncIterator]();
  return { first: await rest.next(), rest };
}
