import type { StoreCells } from '../cells.ts';
import { ElsewhereError } from '../cells.ts';
import type { ContextFilter } from '../ports.ts';

/** Which cells this process works on. Absent where the engine has the whole store for itself. */
export interface OwnCells {
  /** Changes whenever cells are gained. What was read from the store before may be outdated. */
  readonly version: number;
  cellOf(place: ContextFilter): number;
  /** Throws an ElsewhereError if another process has to deal with the place. A promise while the tasks of its cell are being recovered. */
  enter(place: ContextFilter): Promise<void> | undefined;
  /** Whether the place is in a cell of this process whose tasks are recovered. */
  isHere(place: ContextFilter): boolean;
  /** Whether this process owns the place's cell, also while its tasks are being recovered. */
  isOwn(place: ContextFilter): boolean;
  /** The cells of this process whose tasks are recovered. */
  open(): readonly number[];
  /** Their part of all cells. */
  part(): number;
  /** Throws an ElsewhereError if this process has no cell at the moment. */
  checkAny(): void;
  /** The id of a new conversation, in a cell of this process: that of `beside`, if it has that one. Throws an ElsewhereError if it has none at the moment. */
  idHere(id: string, beside?: ContextFilter): string;
}

/** Only `follow-cells.ts` changes what is open. */
export interface CellStates extends OwnCells {
  /** The cells are gained. They open when `recovered` resolves. */
  opening(cells: readonly number[], recovered: Promise<unknown>): void;
  close(cells: readonly number[]): void;
}

/** Stands for the cell of a call that any other process may deal with. The server knows it under the same number. */
export const ANY_CELL = -1;

/** Starts with no open cell. */
export function createOwnCells(cells: StoreCells): CellStates {
  /** True: open. A promise: its tasks are being recovered. */
  const states = new Map<number, true | Promise<unknown>>();
  let version = 0;
  const open = (): readonly number[] => [...states].filter(([cell, state]) => state === true && cells.isOwn(cell)).map(([cell]) => cell);
  const stateOf = (place: ContextFilter): true | Promise<unknown> => {
    const cell = cells.cellOf(place);
    const state = cells.isOwn(cell) ? states.get(cell) : undefined;
    if (state === undefined) throw new ElsewhereError(cell);
    return state;
  };
  const enter = (place: ContextFilter): Promise<void> | undefined => {
    const state = stateOf(place);
    // Looks again: the cell may have been lost during its recovery.
    return state === true ? undefined : state.then(() => enter(place));
  };
  return {
    get version() {
      return version;
    },
    cellOf: (place) => cells.cellOf(place),
    enter,
    isHere: (place) => {
      const cell = cells.cellOf(place);
      return states.get(cell) === true && cells.isOwn(cell);
    },
    isOwn: (place) => {
      const cell = cells.cellOf(place);
      return states.has(cell) && cells.isOwn(cell);
    },
    checkAny: () => {
      if (cells.pick() === undefined) throw new ElsewhereError(ANY_CELL);
    },
    idHere: (id, beside) => {
      const near = beside === undefined ? undefined : cells.cellOf(beside);
      const cell = near !== undefined && cells.isOwn(near) ? near : cells.pick();
      if (cell === undefined) throw new ElsewhereError(ANY_CELL);
      return cells.idIn(cell, id);
    },
    opening: (gained, recovered) => {
      version += 1;
      for (const cell of gained) states.set(cell, recovered);
      void recovered.then(() => {
        for (const cell of gained) if (states.get(cell) === recovered) states.set(cell, true);
      });
    },
    close: (lost) => {
      for (const cell of lost) states.delete(cell);
    },
    open,
    part: () => open().length / cells.count,
  };
}
