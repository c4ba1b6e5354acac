import type { Ids } from '#protocol';
import type { Agents } from '../agents.ts';
import type { Commits } from '../commit/group-commit.ts';
import type { EngineClock } from '../engine-clock.ts';
import type { EngineLifecycle } from '../lifecycle.ts';
import type { EngineLimits } from '../limits.ts';
import type { AroundRun, EngineOptions } from '../options.ts';
import type { Store } from '../ports.ts';
import type { LogParts } from '../read/fold.ts';
import type { ReportFailure } from '../report.ts';
import type { ShortLivedMap } from '../short-lived-map.ts';
import type { DirectMessageParts } from '../tasks/direct-message.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { WaitingTasks } from '../tasks/waiting-tasks.ts';
import type { AgentRun } from './agent-run.ts';
import type { Conversations } from './conversations.ts';
import type { Quotas } from './quotas.ts';
import type { Slots } from './slots.ts';

/** What counts the runs and times them. */
export interface RunCounts {
  readonly slots: Slots;
  readonly quotas: Quotas;
  /** Runs that have not ended, including stopped ones whose agent has not returned. */
  readonly runs: ShortLivedMap<AgentRun, LiveTask>;
  readonly clock: EngineClock;
}

/** What ends a run, or the task with it. */
export interface StopParts extends RunCounts {
  readonly ids: Ids;
  readonly commits: Pick<Commits, 'broken' | 'settled' | 'isStalled' | 'lose' | 'fail'>;
  readonly report: ReportFailure;
  /** The caller `local` may see what an agent threw. */
  readonly tellCauses: boolean;
}

/** What runs an agent for a turn. */
export interface TurnParts extends StopParts, DirectMessageParts, LogParts {
  readonly agents: Agents;
  /** What recovery does with unfinished tasks of agents that are not here. */
  readonly missingAgents: 'fail' | 'wait';
  readonly aroundRun: AroundRun | undefined;
  readonly onRunEnd: EngineOptions['onRunEnd'];
  readonly waiting: Pick<WaitingTasks, 'note'>;
  readonly conversations: Conversations;
  readonly lifecycle: EngineLifecycle;
  readonly limits: EngineLimits;
  readonly store: Store;
}
