import { AsyncLocalStorage } from 'node:async_hooks';
import type { AroundRun } from '#engine';
import type { AgentOutput } from '#protocol';
import type { Log } from '#server';

interface Guard {
  /** Associates the code of a run, and everything that it starts, with its agent and task. */
  readonly aroundRun: AroundRun;
  /** Resolves after an uncaught exception, when the state of the process is unknown. */
  readonly broken: Promise<void>;
}

/** The run that the current code belongs to. */
interface Running {
  readonly about: { readonly agent: string; readonly task: string; readonly context: string; readonly caller: string };
  fail: (thrown: unknown) => void;
}

/**
 * Handles errors of agents that no run can catch. By default Node ends the process after one unhandled rejection, and with it the work of
 * every other agent. For the command line only: a library must not set process-wide handlers.
 */
export function guardProcess(log: Log): Guard {
  const running = new AsyncLocalStorage<Running>();
  const broken = Promise.withResolvers<void>();
  let hasBroken = false;
  process.on('unhandledRejection', (reason) => {
    const run = running.getStore();
    const who = run === undefined ? 'unknown code' : `agent ${run.about.agent}`;
    log.error(`${who} left a rejected promise unhandled; the node continues`, reason, run?.about);
  });
  process.on('uncaughtException', (thrown) => {
    const run = running.getStore();
    // Fail the run. If recovery repeated it, it would crash the process after every start (docs/faults.md, E14).
    run?.fail(thrown);
    if (hasBroken) return; // further errors during the shutdown have the same cause
    hasBroken = true;
    const who = run === undefined ? 'the process threw' : `agent ${run.about.agent} threw`;
    log.error(`${who} an exception that nothing caught; stopping, so that a restart can recover from disk`, thrown, run?.about);
    broken.resolve();
  });
  const aroundRun: AroundRun = (run, turn, agent) => {
    const about = { agent, task: turn.task.id, context: turn.contextId, caller: turn.principal.id };
    const mine: Running = { about, fail: () => {} };
    return within(running, mine, () => run(turn));
  };
  return { aroundRun, broken: broken.promise };
}

/** Runs each step of the generator in the run's context, but not the reader's code between the steps. */
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
