import type { A2AService, BatchIterator, CallContext, EventStream, Logged, SendRequest } from '#protocol';
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

/** A stream of one batch. */
export function streamOfBatch(batch: Batch): OpenStream {
  return { first: { done: false, value: batch }, rest: { next: async () => ({ done: true, value: undefined }) } };
}
