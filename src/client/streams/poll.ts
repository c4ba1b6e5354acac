import type { A2AService, CallContext, Task } from '#protocol';
import { isA2AError } from '#protocol';
import { isAtRest } from '../calls/request.ts';
import { sleep } from '../retry/sleep.ts';

const FIRST_POLL_MS = 100;
const POLL_MS_MAX = 5000;

/** The task each time that it is asked for, until it rests: less and less often. Nothing if it rests already. */
export async function* untilRest(service: A2AService, from: Task, ctx: CallContext): AsyncGenerator<Task, void> {
  let task = from;
  let pauseMs = FIRST_POLL_MS;
  while (!isAtRest(task.status.state)) {
    await sleep(pauseMs, ctx.signal);
    pauseMs = Math.min(pauseMs * 1.5, POLL_MS_MAX);
    const asked = await service.get({ id: task.id }, ctx).catch(cannotTell);
    if (asked === undefined) return;
    task = asked;
    yield task;
  }
}

/** An agent that can't be asked has said all that it will. */
function cannotTell(thrown: unknown): undefined {
  if (isA2AError(thrown) && (thrown.kind === 'METHOD_NOT_FOUND' || thrown.kind === 'UNSUPPORTED_OPERATION')) return undefined;
  throw thrown;
}
