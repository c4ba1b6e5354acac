import type {
  A2AService,
  CallContext,
  ErrorDetails,
  ErrorKind,
  EventStream,
  Logged,
  Requests,
  StreamOperation,
  StreamOperations,
  TaskId,
} from '#protocol';
import { A2AError, OPERATIONS } from '#protocol';

/** The part of a call's context that another replica gets. The caller was authenticated by the replica that received the request. */
export type ToldContext = Omit<CallContext, 'signal' | 'onDelivered' | 'onAdmitted' | 'onElsewhere' | 'forAgent'>;

/** A stream that a replica wants to read from the owner of its cell. */
export interface LinkCall<Op extends StreamOperation = StreamOperation> {
  readonly agent: string;
  readonly operation: Op;
  readonly request: Requests[Op];
  readonly ctx: ToldContext;
  /** Names the call when the replica reports that its caller has the whole response. The same for each repetition. */
  readonly key: string;
  /** Whether it will report that. */
  readonly reportsDelivery: boolean;
  /** The caller has the events up to this number. */
  readonly after?: number;
}

/** A line of the response. */
export type LinkLine =
  | { readonly events: readonly Logged[] }
  | { readonly admitted: TaskId }
  | { readonly error: { readonly kind: ErrorKind; readonly message: string; readonly details: ErrorDetails } };

const STREAMS: StreamOperations = OPERATIONS;

/** Calls a service for a stream. */
export function openCall<Op extends StreamOperation>(
  service: A2AService,
  { operation, request }: Pick<LinkCall<Op>, 'operation' | 'request'>,
  ctx: CallContext,
): EventStream {
  return STREAMS[operation].call(service, request, ctx);
}

/** The context without what belongs to this process. */
export function toldContext(ctx: CallContext): ToldContext {
  const { signal: _, onDelivered: __, onAdmitted: ___, onElsewhere: ____, forAgent: _____, ...told } = ctx;
  return told;
}

export function errorLine(thrown: unknown): LinkLine {
  const { kind, message, details } = A2AError.from(thrown);
  return { error: { kind, message, details } };
}

/** Only verified replicas send these. */
export async function* readLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<LinkLine, void> {
  let parts: Uint8Array[] = [];
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      parts.push(piece.subarray(from, end));
      yield JSON.parse(Buffer.concat(parts).toString()) as LinkLine;
      parts = [];
      from = end + 1;
    }
    if (from < piece.length) parts.push(piece.subarray(from));
  }
}

const NEWLINE = 10;
