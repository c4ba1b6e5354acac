import type { A2AService, BatchIterator, CallContext, EventStream, Logged, SendRequest, TaskId } from '#protocol';
import { isA2AError } from '#protocol';

type Batch = readonly Logged[];

/** A stream whose first batch has arrived. A failure before that becomes an error response instead of a stream. */
export interface OpenStream {
  readonly first: IteratorResult<Batch, unknown>;
  readonly rest: BatchIterator;
}

/** Waits for the first batch, so that a failure before it can still become an error response. */
export async function openStream(events: EventStream): Promise<OpenStream> {
  const rest = events[Symbol.asyncIterator]();
  return { first: await rest.next(), rest };
}

/** Sends a message and opens the stream of what follows. An agent without streaming is called with `send` instead. */
export async function openSend(service: A2AService, request: SendRequest, ctx: CallContext): Promise<OpenStream> {
  try {
    return await openStream(service.stream(request, ctx));
  } catch (thrown) {
    if (!isA2AError(thrown) || thrown.kind !== 'STREAMING_NOT_SUPPORTED') throw thrown;
    return streamOfBatch([{ event: await service.send(request, ctx) }]);
  }
}

/** What `openSendUnread` sends. */
interface Sending {
  readonly service: A2AService;
  readonly request: SendRequest;
  readonly ctx: CallContext;
}

/**
 * Like `openSend`, for callers who can stop an answer only by disconnecting. Calls `leftUnread` if the caller disconnects before the first
 * batch: the stream then has no reader who could notice it. Another node may name the task only after that.
 */
export async function openSendUnread({ service, request, ctx }: Sending, leftUnread: (task: TaskId) => void): Promise<OpenStream> {
  let task: TaskId | undefined;
  let hasOpened = false;
  const check = (): void => {
    if (task !== undefined && hasOpened && ctx.signal.aborted) leftUnread(task);
  };
  const onAdmitted = (admitted: TaskId): void => {
    task = admitted;
    ctx.onAdmitted?.(admitted);
    check();
  };
  try {
    return await openSend(service, request, { ...ctx, onAdmitted });
  } finally {
    hasOpened = true;
    check();
  }
}

/** Cancels a task that nobody reads any more. It may have ended meanwhile. */
export async function cancelQuietly(service: A2AService, id: TaskId, ctx: CallContext): Promise<void> {
  await service.cancel({ id }, afterAnswer(ctx)).catch(() => undefined);
}

/** The context for what is still to do when the caller has its answer or has left. */
export function afterAnswer({ onElsewhere: _, ...ctx }: CallContext): CallContext {
  return { ...ctx, signal: new AbortController().signal, followsAnswer: true };
}

/** A stream of one batch. */
export function streamOfBatch(batch: Batch): OpenStream {
  return { first: { done: false, value: batch }, rest: { next: async () => ({ done: true, value: undefined }) } };
}
