import { AsyncLocalStorage } from 'node:async_hooks';
import type { AroundRun } from '#engine';
import type { AgentOutput } from '#protocol';
import type { Log } from '#server';

interface Guard {
  /** Remembers whose code runs, for as long as anything of it does. */
  readonly aroundRun: AroundRun;
  /** Resolves when the state of this process can't be trusted any more. */
  readonly broken: Promise<void>;
}

/** The run whose code it is. */
interface Running {
  readonly agent: string;
  readonly task: string;
  fail: (thrown: unknown) => void;
}

/**
 * What an agent throws where no run of it can hear that. By Node's default one such promise ends the process, and with it the work of
 * every other agent. Only for the program itself: in a library these handlers would be set behind the back of whoever uses it.
 */
export function guardProcess(log: Log): Guard {
  const running = new AsyncLocalStorage<Running>();
  const broken = Promise.withResolvers<void>();
  let hasBroken = false;
  process.on('unhandledRejection', (reason) => {
    const run = running.getStore();
    const who = run === undefined ? 'somebody' : `agent ${run.agent}`;
    log.error(`${who} left a rejected promise unhandled; the node goes on`, reason, whose(run));
  });
  process.on('uncaughtException', (thrown) => {
    const run = running.getStore();
    // The run that did this has failed as if it had thrown it itself. Left for recovery, it would do the same after every start (E14).
    run?.fail(thrown);
    if (hasBroken) return; // whatever follows while the node stops comes from the same broken state
    hasBroken = true;
    const who = run === undefined ? 'an exception was thrown' : `agent ${run.agent} threw`;
    log.error(`${who} where nobody could catch it; stopping, so that a restart can recover what is on disk`, thrown, whose(run));
    broken.resolve();
  });
  const aroundRun: AroundRun = (run, turn, agent) => {
    const mine: Running = { agent, task: turn.task.id, fail: () => {} };
    return within(running, mine, () => run(turn));
  };
  return { aroundRun, broken: broken.promise };
}

function whose(run: Running | undefined): { readonly agent?: string; readonly task?: string } {
  return run === undefined ? {} : { agent: run.agent, task: run.task };
}

/** Every step is taken inside, and none that the reader takes in between. */
function within(running: AsyncLocalStorage<Running>, mine: Running, begin: () => AsyncIterable<AgentOutput>): AsyncIterable<AgentOutput> {
  return {
    [Symbol.asyncIterator]: () => {
      const outputs = running.run(mine, () => begin()[Symbol.asyncIterator]());
      return {
        next: () =>
          new Promise((resolve, reject) => {
            mine.fail = reject;
            running.run(mine, () => outputs.next()).then(resolve, reject);
          }),
        return: async () => (await running.run(mine, () => outputs.return?.())) ?? { done: true, value: undefined },
      };
    },
  };
}
