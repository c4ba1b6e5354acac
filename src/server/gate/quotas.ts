import type { A2AService, CallContext, SendResult, TaskId } from '#protocol';
import { A2AError, isTerminal } from '#protocol';
import { callerKey, isLocal } from './gate.ts';

export interface QuotaLimits {
  /** 0: as many as come. */
  readonly callerStreamsMax: number;
  readonly callerTasksMax: number;
}

/** Gives the place of a task back. `sent`: what its caller was told last of it, if it may go on. */
export type Leave = (sent?: SendResult) => void;

/** What one caller may have at a time. `local` owns the machine and is not counted. */
export interface Quotas {
  /** Takes a place for a stream, or throws. Returns what gives it back. */
  stream(ctx: CallContext): () => void;
  /** Takes a place for a task that will run, or throws. It is given back when the task is known to have ended. */
  task(ctx: CallContext, service: A2AService): Leave | Promise<Leave>;
}

/** What is under way for one caller: calls that have not been answered, and tasks that were answered before they ended. */
interface Tasks {
  calls: number;
  readonly ids: Set<TaskId>;
}

const RETRY_MS = 1000;

export function createQuotas({ callerStreamsMax, callerTasksMax }: QuotaLimits): Quotas {
  const streams = new Map<string, number>();
  const tasks = new Map<string, Tasks>();
  const nothing = (): void => {};
  return {
    stream: (ctx) => {
      if (isLocal(ctx) || callerStreamsMax === 0) return nothing;
      const key = callerKey(ctx);
      const open = streams.get(key) ?? 0;
      if (open >= callerStreamsMax) throw tooMany(`${callerStreamsMax} streams are open`);
      streams.set(key, open + 1);
      return once(() => {
        const left = (streams.get(key) ?? 1) - 1;
        if (left === 0) streams.delete(key);
        else streams.set(key, left);
      });
    },
    task: (ctx, service) => {
      if (isLocal(ctx) || callerTasksMax === 0) return nothing;
      const key = callerKey(ctx);
      const own = tasks.get(key) ?? { calls: 0, ids: new Set<TaskId>() };
      tasks.set(key, own);
      const isFull = (): boolean => own.calls + own.ids.size >= callerTasksMax;
      const enter = (): Leave => {
        own.calls += 1;
        return once((sent) => {
          own.calls -= 1;
          const task = sent?.task;
          if (task !== undefined && !isAtRest(task.status.state)) own.ids.add(task.id);
          if (own.calls + own.ids.size === 0) tasks.delete(key);
        });
      };
      if (!isFull()) return enter();
      return forgetEnded(own, ctx, service).then(() => {
        if (isFull()) throw tooMany(`${callerTasksMax} tasks are running`);
        return enter();
      });
    },
  };
}

/** Only a caller at its limit pays for looking. */
async function forgetEnded(own: Tasks, ctx: CallContext, service: A2AService): Promise<void> {
  await Promise.all(
    [...own.ids].map(async (id) => {
      const isOver = await service.get({ id, historyLength: 0 }, ctx).then(
        (task) => isAtRest(task.status.state),
        () => true,
      );
      if (isOver) own.ids.delete(id);
    }),
  );
}

/** A task that waits for its caller takes no place: it is not running. */
function isAtRest(state: Parameters<typeof isTerminal>[0]): boolean {
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

function tooMany(what: string): A2AError {
  return new A2AError('RATE_LIMITED', `${what} already; try again when one has ended`, { retryAfterMs: RETRY_MS });
}

function once(run: Leave): Leave {
  let isDone = false;
  return (sent) => {
    if (isDone) return;
    isDone = true;
    run(sent);
  };
}
