import type { Engine, EngineOptions, EngineStats } from '#engine';
import type { TaskState } from '#protocol';
import { isTerminal } from '#protocol';
import { SECONDS } from './call-metrics.ts';
import { METRICS } from './metric-table.ts';
import type { Metrics } from './metrics.ts';

/** Runs of agents take longer than calls of the node. */
const RUN_SECONDS: readonly number[] = [...SECONDS.slice(3), 120, 300, 600, 1800, 3600];

/** Options of an engine that count what it does: runs, ended tasks, stalls of the store. */
export function engineMeter(metrics: Metrics): Required<Pick<EngineOptions, 'onRunEnd' | 'onCommitted' | 'onStalled'>> {
  const runs = metrics.histogram({ ...METRICS.runSeconds, buckets: RUN_SECONDS });
  const finished = metrics.counter(METRICS.tasksFinished);
  let stalls = 0;
  metrics.gauge(METRICS.storeStalls, () => stalls);
  return {
    onRunEnd: ({ agent, state }, ms) => runs.observe(ms / 1000, [agent, stateLabel(state)]),
    onCommitted: ({ agent }, entries) => {
      const state = entries.at(-1)?.event.statusUpdate?.status.state;
      if (state !== undefined && isTerminal(state)) finished.add([agent, stateLabel(state)]);
    },
    onStalled: (cause) => {
      if (cause !== undefined) stalls += 1;
    },
  };
}

/** `TASK_STATE_INPUT_REQUIRED` as `input_required`. */
function stateLabel(state: TaskState): string {
  return state.slice('TASK_STATE_'.length).toLowerCase();
}

/** Adds the figures of the engine to the metrics. */
export function showStats(engine: Engine, metrics: Metrics, agents: () => readonly string[]): void {
  const stat = (declared: (typeof METRICS)[keyof typeof METRICS], read: (stats: EngineStats) => number): void => {
    const { name, help, type } = declared;
    metrics.gauge({ name, help, type: type === 'counter' ? 'counter' : 'gauge' }, () => read(engine.stats()));
  };
  stat(METRICS.tasksRunning, ({ running }) => running);
  stat(METRICS.tasksQueued, ({ queued }) => queued);
  metrics.gauge(METRICS.tasksAsking, () => asking(engine.stats(), agents()));
  stat(METRICS.tasksLive, ({ liveTasks }) => liveTasks);
  stat(METRICS.contextsOpen, ({ openContexts }) => openContexts);
  stat(METRICS.commits, ({ commits }) => commits);
  stat(METRICS.events, ({ events }) => events);
  stat(METRICS.tasksForgotten, ({ forgottenTasks }) => forgottenTasks);
  stat(METRICS.storeStalled, ({ isStalled }) => Number(isStalled));
  stat(METRICS.storeBroken, ({ isBroken }) => Number(isBroken));
}

/** One row for each agent, also if none of its tasks waits: an alert needs the 0. */
function asking({ waiting }: EngineStats, agents: readonly string[]): readonly (readonly [readonly string[], number])[] {
  const rows = new Map(agents.map((agent) => [`${agent}\ninput_required`, 0]));
  for (const { agent, state, tasks } of waiting) rows.set(`${agent}\n${stateLabel(state)}`, tasks);
  return [...rows].map(([key, tasks]) => [key.split('\n'), tasks]);
}
