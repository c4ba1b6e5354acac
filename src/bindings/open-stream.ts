import type { EventStream, Logged } from '#protocol';

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
