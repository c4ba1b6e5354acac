import { isInterrupted } from '#protocol';
import type { TaskRow } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { hold, release } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import { startTurn } from './run.ts';
import type { StopReason } from './stop.ts';
import { stopTask } from './stop.ts';

export interface Recovered {
  readonly waiting: number;
  readonly started: number;
  readonly ended: number;
}

/**
 * After a start: whoever waits for its caller goes on waiting; every other task that is not finished is begun, repeated or failed,
 * by what its agent declares. Afterwards none is at work that nobody works on. When it returns, all ends are durable.
 */
export async function recover(core: Core): Promise<Recovered> {
  const counts = { waiting: 0, started: 0, ended: 0 };
  for (const row of await core.store.unfinished()) {
    const waits = isInterrupted(row.state);
    if (waits && (await mayWait(core, row))) {
      counts.waiting += 1;
      continue;
    }
    const live = await hold(core, 'any', row.id);
    if (live === undefined) continue;
    const reason = waits ? 'lost' : whyEnded(core, row);
    if (reason === undefined) {
      counts.started += 1;
      again(core, live);
    } else {
      counts.ended += 1;
      stopTask(core, live, reason);
    }
    release(core, live);
  }
  if (counts.ended > 0) await core.writer.settled();
  return counts;
}

/** An agent whose conversations die with the process has no use for an answer. One that can't tell is believed to have. */
async function mayWait(core: Core, { agent: name, contextId, owner }: TaskRow): Promise<boolean> {
  try {
    return (await core.agents.get(name)?.keepsWaiting?.({ contextId, principal: owner.principal })) ?? true;
  } catch (thrown) {
    core.report(`agent ${name} could not say whether it goes on`, thrown);
    return true;
  }
}

/** Undefined: it is begun. A turn whose agent was never started can be, whatever the agent declares. */
function whyEnded(core: Core, { agent: name, attempt }: TaskRow): StopReason | undefined {
  const agent = core.agents.get(name);
  if (agent === undefined) return 'orphaned';
  if (attempt === 0) return undefined;
  if (agent.recovery === 'fail') return 'interrupted';
  return attempt >= core.limits.attemptsMax ? 'given up' : undefined;
}

/** The more often it was tried, the longer the others have before it is tried again. `startTurn` counts on disk before it runs. */
function again(core: Core, live: Live): void {
  const { attempt } = live.row;
  startTurn(core, live, attempt === 0 ? { again: true } : { again: true, delayMs: core.limits.retryMs * attempt ** 2 });
}
