import { A2AError } from '#protocol';
import type { ReadTimeout } from '../idle-timer.ts';
import { IdleTimer } from '../idle-timer.ts';
import type { GrpcFrame } from './wire.ts';
import { FrameParser } from './wire.ts';

/** The frames of a body, in batches as they arrive. The body is closed when the loop ends or the timeout expires. */
export async function* readFrames(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
  timeout: ReadTimeout,
): AsyncGenerator<readonly GrpcFrame[], void> {
  if (body === null) return;
  const parser = new FrameParser(bytesMax);
  const reader = body.getReader();
  const close = (): void => void reader.cancel().catch(() => undefined); // a body that has failed already can't be cancelled
  const timer = new IdleTimer(timeout, close);
  let open = timeout.signal?.aborted !== true;
  try {
    while (open) {
      const { done, value } = await reader.read();
      open = !done;
      timer.touch();
      if (done && timeout.signal?.aborted !== true) timer.check();
      const frames = done ? [] : parser.push(value);
      if (frames.some(({ isCompressed }) => isCompressed))
        throw new A2AError('INVALID_AGENT_RESPONSE', 'the response is compressed, although the request does not allow it');
      if (frames.length > 0) yield frames;
      timer.touch(); // the time that the consumer took does not count as idle
    }
  } finally {
    timer.stop();
    close();
  }
}
