import type { Writable } from 'node:stream';

/**
 * What is written to a socket in one turn of the event loop goes out together: many small packets are one system call, which costs as much
 * as writing them. Returns what is to be called before each write.
 */
export function holdWrites(streamOf: () => Writable): () => void {
  let held: Writable | undefined;
  return () => {
    const stream = streamOf();
    if (held === stream) return;
    held = stream;
    stream.cork();
    setImmediate(() => {
      held = undefined;
      stream.uncork();
    });
  };
}
