/** A body with these chunks, in this order. */
export function streamOf(...pieces: readonly Uint8Array[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const left = pieces.map((piece) => new Uint8Array(piece));
  return new ReadableStream({
    pull: (controller) => {
      const next = left.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
}
