import type {
  A2AService,
  BatchIterator,
  CallContext,
  CancelRequest,
  ErrorDetails,
  ErrorKind,
  EventStream,
  Logged,
  Requests,
  SendResult,
  StreamOperation,
  StreamOperations,
  TaskId,
} from '#protocol';
import { A2AError, OPERATIONS } from '#protocol';

/** The part of a call's context that another replica gets. The caller was authenticated by the replica that received the request. */
export type ToldContext = Omit<CallContext, 'signal' | 'onDelivered' | 'onAdmitted' | 'onElsewhere' | 'forAgent' | 'followsAnswer'>;

/** Operations that follow the answer to another request (`CallContext.followsAnswer`). They are asked for as streams of at most one event. */
type FollowingOperation = 'cancel' | 'forget';

/** Operations whose calls are read as streams. */
export type LinkStreamOperation = StreamOperation | FollowingOperation;

/** What a replica asks the owner of a cell for by itself. Requests for other operations are forwarded as they came. */
export type LinkOperation = LinkStreamOperation | 'send';

/** The request of each operation. */
export type LinkRequests = Requests & { readonly forget: CancelRequest };

/** Events of a stream, or the result of a send, which is the only item of its call. */
export type LinkItem = readonly Logged[] | SendResult;

interface LinkError {
  readonly error: { readonly kind: ErrorKind; readonly message: string; readonly details: ErrorDetails };
}

/** A stream or a send at the owner of its cell. */
export interface LinkCall<Op extends LinkOperation = LinkOperation> {
  readonly agent: string;
  readonly operation: Op;
  readonly request: LinkRequests[Op];
  readonly ctx: ToldContext;
  /** Names the call when the replica reports that its caller has the whole response. The same for each repetition. */
  readonly key: string;
  /** Whether it will report that. */
  readonly reportsDelivery: boolean;
  /** The caller has the events up to this number. */
  readonly after?: number;
}

/** A line of a stream. */
export type LinkLine = { readonly events: readonly Logged[] } | { readonly admitted: TaskId } | LinkError;

/** What the owner of a cell says to a send. `isAway`: it did nothing, because it is not the owner, or is about to end. */
export type AnsweredSend =
  | { readonly isAway: true; readonly cell?: number; readonly lacksAgent?: true }
  | (({ readonly result: SendResult } | LinkError) & { readonly reportsDelivery: boolean });

/** A line of the stream of sends to a replica: the call of this number, its end, or keys of earlier calls whose callers have the whole response. */
export interface SendAsked {
  readonly n: number;
  readonly call?: LinkCall<'send'>;
  readonly isCanceled?: true;
  readonly reached?: readonly string[];
}

/** A line of the replica: the task that the message of this number went to, or the answer. */
export interface SendLine {
  readonly n: number;
  readonly admitted?: TaskId;
  readonly answer?: AnsweredSend;
}

const STREAMS: StreamOperations = OPERATIONS;

export function isEvents(item: LinkItem): item is readonly Logged[] {
  return Array.isArray(item);
}

export function errorOf({ error: { kind, message, details } }: LinkError): A2AError {
  return new A2AError(kind, message, details);
}

/** Calls a service for a stream. */
export function openStream<Op extends StreamOperation>(
  service: A2AService,
  { operation, request }: Pick<LinkCall<Op>, 'operation' | 'request'>,
  ctx: CallContext,
): EventStream {
  return STREAMS[operation].call(service, request, ctx);
}

/** Calls a service for what is read as a stream. */
export function openEvents(
  service: A2AService,
  { operation, request }: Pick<LinkCall<LinkStreamOperation>, 'operation' | 'request'>,
  ctx: CallContext,
): BatchIterator {
  if (operation === 'cancel' || operation === 'forget') return follow(service, { operation, request: request as CancelRequest }, ctx);
  return openStream(service, { operation, request: request as Requests[typeof operation] }, ctx)[Symbol.asyncIterator]();
}

async function* follow(
  service: A2AService,
  { operation, request }: Pick<LinkCall<FollowingOperation>, 'operation' | 'request'>,
  ctx: CallContext,
): AsyncGenerator<readonly Logged[], undefined> {
  if (operation === 'forget') await service.forget?.(request, ctx);
  else yield [{ event: { task: await service.cancel(request, ctx) } }];
}

/** Calls a service for a stream or a send. */
export function openCall(
  service: A2AService,
  { operation, request }: Pick<LinkCall, 'operation' | 'request'>,
  ctx: CallContext,
): AsyncIterator<LinkItem, undefined> {
  if (operation !== 'send') return openEvents(service, { operation, request }, ctx) as AsyncIterator<LinkItem, undefined>;
  let isAsked = false;
  return {
    next: async () => {
      if (isAsked) return { done: true, value: undefined };
      isAsked = true;
      return { done: false, value: await service.send(request as Requests['send'], ctx) };
    },
  };
}

/** The context without what belongs to this process. */
export function toldContext(ctx: CallContext): ToldContext {
  const { signal: _, onDelivered: __, onAdmitted: ___, onElsewhere: ____, forAgent: _____, followsAnswer: ______, ...told } = ctx;
  return told;
}

export function errorLine(thrown: unknown): LinkError {
  const { kind, message, details } = A2AError.from(thrown);
  return { error: { kind, message, details } };
}

/** Splits what arrives into lines. Only verified replicas send these. */
export class LineReader<Line = LinkLine> {
  #parts: Uint8Array[] = [];

  /** The lines that the piece completes. */
  take(piece: Uint8Array): readonly Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      this.#parts.push(piece.subarray(from, end));
      lines.push(JSON.parse(Buffer.concat(this.#parts).toString()) as Line);
      this.#parts = [];
      from = end + 1;
    }
    if (from < piece.length) this.#parts.push(piece.subarray(from));
    return lines;
  }
}

const NEWLINE = 10;
