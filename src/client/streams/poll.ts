import type { A2AService, CallContext, Task } from '#protocol';
import { isA2AError } from '#protocol';
import { isSettled } from '../calls/request.ts';
import { sleep } from '../retry/sleep.ts';

const FIRST_POLL_MS = 100;
const POLL_MS_MAX = 5000;

/** Polls a task, at growing intervals, until it is settled. Yields nothing if it is settled already. */
export async function* pollUntilSettled(service: A2AService, from: Task, ctx: CallContext): AsyncGenerator<Task, void> {
  let task = from;
  let pauseMs = FIRST_POLL_MS;
  while (!isSettled(task.status.state)) {
    await sleep(pauseMs, ctx.signal);
    pauseMs = Math.min(pauseMs * 1.5, POLL_MS_MAX);
    const asked = await service.get({ id: task.id }, ctx).catch(unlessUnsupported);
    if (asked === undefined) return;
    task = asked;
    yield task;
  }
}

/** An agent without `get` can't be polled: its last answer is final. */
function unlessUnsupported(thrown: unknown): undefined {
  if (isA2AError(thrown) && (thrown.kind === 'METHOD_NOT_FOUND' || thrown.kind === 'UNSUPPORTED_OPERATION')) return undefined;
  throw thrown;
}
