import { isInterrupted } from '#protocol';
import type { CellStates } from '../cells/own-cells.ts';
import type { StoreCells } from '../cells.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { ContextFilter, TaskKey, TaskRow } from '../ports.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { WaitingTasks } from '../tasks/waiting-tasks.ts';
import type { TurnParts } from './parts.ts';
import type { Recovered } from './recovery.ts';
import { addRecovered, NOTHING_RECOVERED, recover } from './recovery.ts';

/** What taking over and giving up cells needs of the engine. */
export interface CellParts extends TurnParts {
  readonly outbox: TurnParts['outbox'] & Pick<Outbox, 'load' | 'lose' | 'pause'>;
  readonly waiting: Pick<WaitingTasks, 'note' | 'lose'>;
}

/** The cells of this process, as the engine follows them. */
export interface FollowedCells {
  /** Resolves when the cells that the process had at first are recovered. */
  readonly started: Promise<Recovered>;
  /** Tasks of agents that this process does not have were left alone: looks whether that still holds. */
  lookAgain(): Promise<void>;
  /** Takes no more cells, and gives up those that nobody uses. */
  beginLeaving(): Promise<void>;
  /** Gives up all cells. Everything is saved. Those who wait for a task get an ElsewhereError. */
  leave(): Promise<void>;
}

const RETRY_MS = 1000;

/**
 * Recovers the tasks of cells that this process gets, and drops what it has of cells that it loses: their runs end at once, because another
 * process may start them again, and readers of their tasks continue there.
 */
export function followCells(parts: CellParts, cells: StoreCells, states: CellStates): FollowedCells {
  const { report } = parts;
  /** When a cell was gained, by cell. A cell that was lost and gained again has another number. */
  const gains = new Map<number, number>();
  /** Cells with tasks whose agent is not here. */
  const withAbsent = new Set<number>();
  /** The attempts of the runs that this process stopped when it lost a cell, by cell and task. */
  const stopped = new Map<number, ReadonlyMap<TaskKey, number>>();
  const isStoppedHere = (row: TaskRow): boolean => row.attempt <= (stopped.get(cells.cellOf(row))?.get(row.key) ?? 0);
  let gainings = 0;
  const recoverCells = async (gained: readonly number[], gaining: number): Promise<Recovered> => {
    for (;;) {
      const left = gained.filter((cell) => gains.get(cell) === gaining);
      if (left.length === 0 || parts.commits.broken !== undefined) return NOTHING_RECOVERED;
      try {
        await parts.outbox.load(left);
        const recovered = await recover(parts, { cells: left, isStoppedHere });
        for (const cell of left) stopped.delete(cell);
        for (const cell of left) if (recovered.absent > 0) withAbsent.add(cell);
        return recovered;
      } catch (thrown) {
        report('the tasks of new cells are not recovered yet', thrown);
        await new Promise<void>((resolve) => void parts.timers.later(RETRY_MS, resolve));
      }
    }
  };
  let started: Promise<Recovered> = Promise.resolve(NOTHING_RECOVERED);
  const gained = (got: readonly number[]): void => {
    gainings += 1;
    for (const cell of got) gains.set(cell, gainings);
    const recovered = recoverCells(got, gainings);
    states.opening(got, recovered);
    if (parts.lifecycle.phase === 'starting') started = bothOf(started, recovered);
  };
  const lost = (gone: readonly number[]): void => {
    states.close(gone);
    const running = [...parts.runs].filter(([run, task]) => task.run === run && run.hasSlot).map(([, { row }]) => row);
    for (const cell of gone) {
      stopped.set(cell, new Map(running.filter((row) => cells.cellOf(row) === cell).map(({ key, attempt }) => [key, attempt])));
      gains.delete(cell);
      withAbsent.delete(cell);
    }
    drop(parts, new Set(gone), (place) => cells.cellOf(place));
  };
  cells.follow({ gained, lost, idle: (wanted) => idleCells(parts, states, wanted), failed: (cause) => parts.commits.fail(cause) });
  return {
    started,
    lookAgain: async () => {
      const again = [...withAbsent];
      if (again.length === 0) return;
      const { absent } = await recover(parts, { cells: again });
      if (absent === 0) for (const cell of again) withAbsent.delete(cell);
    },
    beginLeaving: async () => {
      cells.stopTaking();
      await cells
        .release(await idleCells(parts, states, cells.count))
        .catch((thrown: unknown) => report('cells could not be released', thrown));
    },
    leave: async () => {
      const own = cells.own();
      lost(own);
      await cells.release(own).catch((thrown: unknown) => report('cells could not be released', thrown));
    },
  };
}

async function bothOf(one: Promise<Recovered>, other: Promise<Recovered>): Promise<Recovered> {
  return addRecovered(await one, await other);
}

/** Drops everything in memory that belongs to the cells. */
function drop(
  { tasks, commits, outbox, waiting, conversations }: CellParts,
  lost: ReadonlySet<number>,
  cellOf: (place: ContextFilter) => number,
): void {
  const isLost = (place: ContextFilter): boolean => lost.has(cellOf(place));
  for (const task of [...tasks.all()]) if (isLost(task.row)) task.lose(cellOf(task.row));
  commits.lose(lost);
  outbox.lose(isLost);
  waiting.lose(isLost);
  conversations.lose(isLost);
}

/**
 * The cells in which nothing is in memory, and whose deliveries are saved. If these are fewer than `wanted`, also cells with runs that only
 * wait for an answer.
 */
async function idleCells(parts: CellParts, states: CellStates, wanted: number): Promise<readonly number[]> {
  const { tasks, outbox, conversations, commits } = parts;
  outbox.pause();
  try {
    await commits.settled();
  } catch {
    return [];
  }
  const used = new Set<number>();
  const asking = new Set<number>();
  for (const task of tasks.all()) (isAtRest(parts, task) ? asking : used).add(states.cellOf(task.row));
  for (const conversation of conversations.all()) used.add(states.cellOf(conversation));
  for (const task of outbox.pause()) used.add(states.cellOf(task));
  const free = states.open().filter((cell) => !used.has(cell));
  const unused = free.filter((cell) => !asking.has(cell));
  return [...unused, ...free.filter((cell) => asking.has(cell)).slice(0, Math.max(0, wanted - unused.length))];
}

/** Whether the task only has a run that waits for an answer, and the answer can start that run again. */
function isAtRest({ agents }: Pick<CellParts, 'agents'>, { row, run, isHeld }: LiveTask): boolean {
  const canRepeat = (agents.get(row.agent)?.recovery ?? 'fail') !== 'fail';
  return run?.answer !== undefined && run.queue.length === 0 && isInterrupted(row.state) && !isHeld && canRepeat;
}
