import type { ServerHttp2Stream } from 'node:http2';
import { A2AError } from '#protocol';
import { cutOff, requestFrames, requestParser } from '../framing.ts';
import { messageIn } from './compression.ts';

/** Options of `messagesOf`. */
export interface MessagesOptions {
  readonly encoding: 'gzip' | undefined;
  /** A caller that sends nothing for this long gets an error. */
  readonly idleMsMax: number;
}

/** Requests of operators are names of services and of types. */
const BYTES_MAX = 65_536;

/** The messages of a request, as they arrive. Reads on when the last one is answered. */
export async function* messagesOf(stream: ServerHttp2Stream, { encoding, idleMsMax }: MessagesOptions): AsyncGenerator<Uint8Array, void> {
  const parser = requestParser(BYTES_MAX);
  const pieces: AsyncIterator<Buffer, unknown> = stream.iterator({ destroyOnReturn: false });
  const following = (): Promise<IteratorResult<Buffer, unknown>> => within(pieces.next().catch(left), idleMsMax);
  for (let next = await following(); next.done !== true; next = await following()) {
    for (const frame of requestFrames(parser, next.value, BYTES_MAX)) yield await messageIn(frame, encoding, BYTES_MAX);
  }
  if (parser.isPartial) throw cutOff();
}

/** A caller that resets its stream has left. That is no error of this node, which would be logged. */
function left(cause: unknown): never {
  throw new A2AError('INVALID_REQUEST', 'the caller has disconnected', { cause });
}

async function within<T>(step: Promise<T>, msMax: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new A2AError('UNAVAILABLE', `no message for ${msMax} ms`)), msMax);
  });
  try {
    return await Promise.race([step, late]);
  } finally {
    clearTimeout(timer);
  }
}
