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

/** A decoded call of an operation that is not a stream. */
export interface UnaryCall<Op extends UnaryOperation> {
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: CallContext;
  readonly dialect: Dialect;
}

/** The same table, typed for the operations with one result. */
const UNARY: UnaryOperations = OPERATIONS;

/** Calls the service and writes its result in the caller's dialect. The service must already behave as that dialect expects (`behave`). */
export async function answerUnary<Op extends UnaryOperation>(call: UnaryCall<Op>, service: A2AService): Promise<Json> {
  const { operation, request, ctx, dialect } = call;
  try {
    return encodeResult(operation, await UNARY[operation].call(service, request, ctx), dialect);
  } catch (thrown) {
    if (isWrittenAsNull(thrown, operation, dialect)) return null;
    throw thrown;
  }
}

/** Whether the dialect writes this error as a null result. */
function isWrittenAsNull(thrown: unknown, operation: Operation, dialect: Dialect): boolean {
  if (dialect.wire.nullForUnknownTask !== true || (operation !== 'get' && operation !== 'cancel')) return false;
  return isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND';
}

type Batch = readonly Logged[];

/** A stream whose first batch has arrived. A failure before that becomes an error response instead of a stream. */
export interface OpenStream {
  readonly first: IteratorResult<Batch, unknown>;
  readonly rest: AsyncIterator<Batch, unknown>;
}

/** Waits for the first batch, so that a failure before it can still become an error response. */
export async function openStream(events: EventStream): Promise<OpenStream> {
  const rest = events[Symbol.asyncIterator]();
  return { first: await rest.next(), rest };
}
