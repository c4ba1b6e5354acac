import type { A2AService, CallContext, Logged, SendRequest, SendResult } from '#protocol';
import { isLast } from '#protocol';
import { pollUntilSettled } from '../streams/poll.ts';
import { returningImmediately } from './request.ts';
import type { HeldStream } from './turn-events.ts';
import { CLOSE_MS } from './turn-events.ts';

interface Answering {
  readonly service: A2AService;
  readonly request: SendRequest;
  readonly ctx: CallContext;
  readonly canPoll: boolean;
}

/**
 * Sends the answer to a question whose stream is still open, and yields what follows on that stream (coding-agent-a2a: "Not final; stream
 * stays open. Respond by sending another message"). Throws if the agent refuses the answer.
 */
export async function* afterAnswer(
  held: HeldStream,
  { service, request, ctx, canPoll }: Answering,
): AsyncGenerator<readonly Logged[], void> {
  let isAnswered = false;
  const stop = (): void => held.stop();
  ctx.signal.addEventListener('abort', stop, { once: true });
  const sent = service.send(returningImmediately(request), ctx);
  let timer: ReturnType<typeof setTimeout> | undefined;
  sent.then(
    (result) => {
      if (!isOver(result)) return;
      isAnswered = true;
      timer = setTimeout(stop, CLOSE_MS); // the stream has this long for its last events
    },
    () => {
      isAnswered = true;
      stop();
    },
  );
  try {
    if (yield* untilLast(held, () => isAnswered)) return;
    // The stream ended without the end of the task: the answer to the send tells more.
    const { task, message } = await sent;
    yield [{ event: task === undefined ? { message } : { task } }];
    if (task !== undefined && canPoll) for await (const later of pollUntilSettled(service, task, ctx)) yield [{ event: { task: later } }];
  } finally {
    clearTimeout(timer);
    stop();
    ctx.signal.removeEventListener('abort', stop);
  }
}

/** Returns whether the last event of the task has come. A stream that was stopped on purpose does not fail. */
async function* untilLast({ events }: HeldStream, isStopped: () => boolean): AsyncGenerator<readonly Logged[], boolean> {
  try {
    for await (const batch of events) {
      yield batch;
      if (batch.some(({ event }) => isLast(event))) return true;
    }
  } catch (thrown) {
    if (!isStopped()) throw thrown;
  }
  return false;
}

function isOver(result: SendResult): boolean {
  return isLast(result.task === undefined ? { message: result.message } : { task: result.task });
}
