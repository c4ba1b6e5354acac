import type { Duplex } from 'node:stream';

type Chunk = readonly [content: string | Uint8Array, encoding: BufferEncoding];

/**
 * Joins all writes to a socket in one turn of the event loop into one. mqtt.js writes a packet in about
 * thirty pieces, some of them strings, and the system call for many pieces takes longer than everything
 * else that is done for a message.
 */
export function batchWrites(stream: Duplex): void {
  const write = stream.write.bind(stream);
  const end = stream.end.bind(stream);
  let chunks: Chunk[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (chunks.length === 0) return;
    const whole = joined(chunks, bytes);
    chunks = [];
    bytes = 0;
    if (!stream.destroyed) write(whole);
  };
  const gather = (content: string | Uint8Array, encoding: BufferEncoding): boolean => {
    if (chunks.length === 0) setImmediate(flush);
    chunks.push([content, encoding]);
    bytes += typeof content === 'string' ? Buffer.byteLength(content, encoding) : content.length;
    return !stream.writableNeedDrain;
  };
  Object.assign(stream, {
    write: (content: string | Uint8Array, encoding?: unknown, done?: unknown): boolean => {
      // A write with a callback goes to the stream itself, after the writes before it.
      if (typeof encoding === 'function' || typeof done === 'function') {
        flush();
        return write(content, encoding as BufferEncoding, done as () => void);
      }
      return gather(content, (encoding as BufferEncoding | undefined) ?? 'utf8');
    },
    end: (...args: unknown[]): Duplex => {
      flush();
      return (end as (...args: unknown[]) => Duplex)(...args);
    },
  });
}

function joined(chunks: readonly Chunk[], bytes: number): Buffer {
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const [content, encoding] of chunks) {
    if (typeof content === 'string') at += whole.write(content, at, encoding);
    else {
      whole.set(content, at);
      at += content.length;
    }
  }
  return whole;
}
