import type { A2AService, CallContext, Message, TaskPage } from '#protocol';
import { sleep } from '../sleep.ts';
import { isPassing, PAUSE_MS, PAUSE_MS_MAX } from './follow.ts';
import type { Origin } from './origin.ts';
import { originIn } from './origin.ts';

/** As many tasks as one page may have. The message was the last thing before a restart, so its task is among the newest. */
const TASKS_MAX = 100;
/** The message is near the end of its task's history. */
const MESSAGES_MAX = 20;

interface Finding {
  readonly service: A2AService;
  readonly message: Message;
  readonly ctx: CallContext;
  readonly unreachableMsMax: number;
}

/**
 * Looks for the task that an origin made of a message whose answer we never saw. Undefined: the origin
 * does not have the message, or does not list its tasks.
 */
export async function findSent(finding: Finding): Promise<Origin | undefined> {
  const { messageId } = finding.message;
  const tasks = (await newest(finding))?.tasks ?? [];
  const task = tasks.find(({ history = [] }) => history.some((message) => message.messageId === messageId));
  return task === undefined ? undefined : originIn({ task });
}

async function newest({ service, ctx, unreachableMsMax }: Finding): Promise<TaskPage | undefined> {
  const start = performance.now();
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await service.list({ pageSize: TASKS_MAX, historyLength: MESSAGES_MAX }, ctx);
    } catch (thrown) {
      if (ctx.signal.aborted) throw thrown;
      if (!isPassing(thrown) || performance.now() - start > unreachableMsMax) return undefined;
    }
    await sleep(pauseMs, ctx.signal);
  }
}
