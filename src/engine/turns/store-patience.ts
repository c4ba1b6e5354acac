import { isUnavailable } from '../commit/outcome.ts';
import type { MaybePromise } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { AgentRun } from './agent-run.ts';
import { signalOf } from './agent-run.ts';
import type { TurnParts } from './parts.ts';

/** The run that needs the store. */
export interface RunOfTask {
  readonly task: LiveTask;
  readonly run: AgentRun;
}

type PatienceParts = Pick<TurnParts, 'commits' | 'timers'>;

/** How long a store that can't be used is left alone before a run tries again. */
const RETRY_MS = 1000;

/**
 * A run waits while the store can't be read, as it waits while the store can't be written: an agent is not to blame for a restart of the
 * database, so its task must not fail. The timeouts of runs apply meanwhile.
 */
export function patiently<T>(parts: PatienceParts, of: RunOfTask, use: () => MaybePromise<T>): MaybePromise<T> {
  const used = use();
  return used instanceof Promise ? used.catch((thrown: unknown) => tryAgain(parts, of, { thrown, use })) : used;
}

interface FailedUse<T> {
  readonly thrown: unknown;
  readonly use: () => MaybePromise<T>;
}

/** The same for something that has failed once already. */
export async function tryAgain<T>(parts: PatienceParts, { task, run }: RunOfTask, { thrown, use }: FailedUse<T>): Promise<T> {
  for (let cause = thrown; ; ) {
    if (!isUnavailable(cause) || task.run !== run || parts.commits.broken !== undefined) throw cause;
    await pause(parts, signalOf(run));
    if (task.run !== run) throw cause;
    try {
      return await use();
    } catch (again) {
      cause = again;
    }
  }
}

/** Ends early if the run is stopped. */
function pause({ timers }: PatienceParts, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timers.later(RETRY_MS, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      resolve();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
