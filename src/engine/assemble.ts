import type { Agent, Dialect, DialectId } from '#protocol';
import { createRegistry, DIALECTS, isTerminal, LET_GO, randomIds, semanticsOfDialect, systemClock } from '#protocol';
import type { AdminParts } from './admin/admin.ts';
import type { CellStates } from './cells/own-cells.ts';
import { createOwnCells } from './cells/own-cells.ts';
import { createCommits } from './commit/group-commit.ts';
import { createEngineClock } from './engine-clock.ts';
import type { EngineLifecycle } from './lifecycle.ts';
import { DEFAULT_ENGINE_LIMITS } from './limits.ts';
import type { EngineOptions } from './options.ts';
import type { Outbox, OutboxParts } from './outbox/outbox.ts';
import { createOutbox } from './outbox/outbox.ts';
import { progressOf } from './outbox/queue.ts';
import { LargeReads } from './read/large-reads.ts';
import type { RecentSends } from './send/idempotency.ts';
import { endReservations, newRecentSends } from './send/idempotency.ts';
import type { ServiceParts } from './service.ts';
import { ShortLivedMap } from './short-lived-map.ts';
import { createKeys } from './tasks/key-ranges.ts';
import type { LiveTask } from './tasks/live-task.ts';
import type { RetentionParts } from './tasks/retention.ts';
import type { TaskTable } from './tasks/table.ts';
import { createTaskTable } from './tasks/table.ts';
import type { TaskParts } from './tasks/task-parts.ts';
import type { Unsaved } from './tasks/unsaved.ts';
import type { WaitingTasks } from './tasks/waiting-tasks.ts';
import { createWaitingTasks } from './tasks/waiting-tasks.ts';
import { systemTimers } from './timers.ts';
import { createConversations } from './turns/conversations.ts';
import type { DrainParts } from './turns/drain.ts';
import type { CellParts } from './turns/follow-cells.ts';
import { createQuotas } from './turns/quotas.ts';
import { createSlots } from './turns/slots.ts';
import { detachRun, stopTask } from './turns/stop.ts';
import { createTurns } from './turns/turns.ts';

/** The engine's parts, each with what it needs of the others. */
interface Assembled {
  readonly service: ServiceParts;
  readonly admin: Omit<AdminParts, 'scope'>;
  readonly turns: DrainParts & CellParts;
  readonly cells: CellStates | undefined;
  readonly retention: RetentionParts;
  readonly outbox: Outbox;
  readonly lifecycle: EngineLifecycle;
  readonly counts: { events: number; deleted: number };
  readonly waiting: WaitingTasks;
  readonly startKeys: () => Promise<void>;
  readonly addAgent: (name: string, agent: Agent) => void;
}

/** The only place that knows all parts. */
export function assemble(options: EngineOptions): Assembled {
  const { store, blobs, timers = systemTimers, report = () => {}, ids = randomIds, random = Math.random } = options;
  const limits = { ...DEFAULT_ENGINE_LIMITS, ...options.limits };
  const clock = createEngineClock(options.clock ?? systemClock);
  const agents = new Map(Object.entries(options.agents));
  const lifecycle: EngineLifecycle = { phase: 'new' };
  const counts = { events: 0, deleted: 0 };
  const waiting = createWaitingTasks();
  const recentSends = newRecentSends();
  const keys = createKeys(store);
  const cells = store.cells === undefined ? undefined : createOwnCells(store.cells);

  const commits = createCommits({
    store,
    timers,
    onBroken: (cause) => {
      report('the store has failed', cause);
      for (const [run, task] of turnParts.runs) if (task.run === run) detachRun(turnParts, task, LET_GO);
      for (const task of tasks.all()) task.wake();
      options.onBroken?.(cause);
    },
    onStalled: (cause) => options.onStalled?.(cause),
  });
  const hooks = taskHooks({ options, counts, recentSends, waiting }, () => ({ tasks, outbox, turnParts }));
  const tasks = createTaskTable({ store, limits, clock, commits, timers, cells, ...hooks });
  const { webhookSender, replyPublisher, vault, semanticsOf = semanticsOfDialect } = options;
  const outbox = createOutbox(() => outboxParts, { webhookSender, replyPublisher, vault });
  const known = knownDialects();
  const largeReads = new LargeReads();
  const base = {
    ...{ store, blobs, timers, largeReads, report, limits, clock, ids },
    ...{ agents, lifecycle, commits, tasks, outbox, semanticsOf, waiting, cells },
  };
  const ports = { random, webhookSender, replyPublisher, vault };
  const outboxParts: OutboxParts = { ...base, ...ports, nextKey: keys.next, webhookOf: (dialect) => known(dialect).webhook };
  const turnParts: DrainParts & CellParts = { ...base, ...runParts(options, base) };
  const retention: RetentionParts = { ...base, stopTask: (task, reason) => stopTask(turnParts, task, reason) };
  const service: ServiceParts = {
    ...base,
    ...{ turns: createTurns(turnParts), retention, recentSends },
    idempotency: options.idempotency ?? 'key',
    secret: options.secret ?? crypto.getRandomValues(new Uint8Array(32)),
    nextKey: keys.next,
  };
  return {
    service,
    admin: {
      ...{ ...service, ...base, retention, conversations: turnParts.conversations, missingAgents: turnParts.missingAgents },
      ...{ erasePeers: options.erasePeers, onErase: options.onErase },
    },
    turns: turnParts,
    cells,
    retention,
    outbox,
    lifecycle,
    counts,
    waiting,
    startKeys: keys.start,
    addAgent: (name, agent) => {
      agents.set(name, agent);
      store.cells?.serve([...agents.keys()]);
    },
  };
}

type RunParts = Pick<DrainParts, 'aroundRun' | 'onRunEnd' | 'tellCauses' | 'missingAgents' | 'slots' | 'quotas' | 'conversations' | 'runs'>;

/** What counts and limits the runs of agents. */
function runParts(options: EngineOptions, { limits, clock, report }: Pick<DrainParts, 'limits' | 'clock' | 'report'>): RunParts {
  return {
    aroundRun: options.aroundRun,
    onRunEnd: options.onRunEnd,
    tellCauses: options.tellCauses === true,
    missingAgents: options.missingAgents ?? 'fail',
    slots: createSlots(limits.runningTasksMax, limits.queuedTasksMax),
    quotas: createQuotas(options.runningTasksMaxOf, options.runningElsewhere),
    conversations: createConversations({ clock, openMax: limits.openContextsMax, msMax: limits.openContextMsMax, report }),
    runs: new ShortLivedMap(),
  };
}

interface HookParts {
  readonly options: EngineOptions;
  readonly counts: { events: number };
  readonly recentSends: RecentSends;
  readonly waiting: WaitingTasks;
}

/** Parts that exist once the table of tasks does. */
interface LateParts {
  readonly tasks: TaskTable;
  readonly outbox: Outbox;
  readonly turnParts: DrainParts;
}

/** What happens when a task was saved, or will never be. */
function taskHooks({ options, counts, recentSends, waiting }: HookParts, late: () => LateParts): Pick<TaskParts, 'onSaved' | 'onDropped'> {
  return {
    onSaved: (task, saved) => {
      const { tasks, outbox } = late();
      counts.events += saved.entries.length;
      endReservations(recentSends, saved.reserved);
      if (saved.hasDirect) tasks.endDeleting(task.row.id);
      tellEnd(options, task, saved);
      if (task.isGone) return;
      if (saved.entries.length > 0) waiting.note(task.row);
      tellOutbox(outbox, task, saved);
      tellFollower(options, task, saved);
    },
    onDropped: (task, unsaved) => {
      const { tasks, turnParts } = late();
      endReservations(recentSends, unsaved.reserved);
      tasks.endDeleting(task.row.id);
      tasks.drop(task);
      detachRun(turnParts, task, LET_GO);
    },
  };
}

/** A commit may have opened queues, and may hold events for those that are open. */
function tellOutbox(outbox: Outbox, { row, committed, origin }: LiveTask, saved: Unsaved): void {
  for (const write of saved.beside) if (write.kind === 'outbox') outbox.opened(write.row, row, progressOf(row, committed));
  if (saved.entries.length > 0 && outbox.watches(row.key)) outbox.committed(row.key, progressOf(row, committed), origin);
}

function tellEnd({ onEnded, report }: EngineOptions, { row }: LiveTask, { entries, hasDirect }: Unsaved): void {
  if (onEnded === undefined) return;
  const event = entries.at(-1)?.event;
  const state = hasDirect ? 'TASK_STATE_COMPLETED' : (event?.statusUpdate?.status.state ?? event?.task?.status.state);
  if (state === undefined || !isTerminal(state)) return;
  try {
    onEnded(row, state);
  } catch (thrown) {
    report?.('onEnded failed', thrown);
  }
}

function tellFollower({ onCommitted, report }: EngineOptions, task: LiveTask, saved: Unsaved): void {
  if (onCommitted === undefined || saved.entries.length === 0) return;
  try {
    onCommitted(task.row, saved.entries, task.origin);
  } catch (thrown) {
    report?.('onCommitted failed', thrown);
  }
}

/** An unknown dialect counts as the first one, A2A 1.0. */
function knownDialects(): (dialect: DialectId) => Dialect {
  const registry = createRegistry(DIALECTS);
  const [first] = DIALECTS;
  return (dialect) => {
    const known = registry.byId(dialect) ?? first;
    if (known === undefined) throw new Error('there are no dialects');
    return known;
  };
}
