import { A2AError } from '#protocol';
import type { ContextFilter } from './records.ts';

/**
 * Port: the cells of a store that several processes share. Each conversation is in one cell, and each cell has at most one owner, which
 * alone changes its tasks. Absent: this process owns everything.
 */
export interface StoreCells {
  /** Number of cells. It never changes. */
  readonly count: number;
  /** The cell of a conversation: from an id that we made, or else by a hash of owner, agent and context. */
  cellOf(place: ContextFilter): number;
  /** The id with the cell in it, so that `cellOf` finds it there. */
  idIn(cell: number, id: string): string;
  /** Whether this process owns the cell at this moment, by the clock. A process that was paused may learn here that it has lost all. */
  isOwn(cell: number): boolean;
  /** The cells that this process owns. */
  own(): readonly number[];
  /** A cell of its own for a new conversation. Undefined: it owns none at the moment. */
  pick(): number | undefined;
  /** Tells from now on what happens to cells, beginning with those that it owns already. Called once, before the engine opens. */
  follow(events: CellEvents): void;
  /** Gives cells up, so that others can take them. Nothing of them is in memory, and everything is saved. */
  release(cells: readonly number[]): Promise<void>;
  /** Gives a cell to another process, which has asked for it. Resolves with false if something uses the cell here. */
  give(cell: number, to: number): Promise<boolean>;
  /** This process is about to end: it takes no more cells from now on. */
  stopTaking(): void;
  /** Tells the others which agents this process has. Called when the engine starts, and for each agent that is added later. */
  serve(agents: readonly string[]): void;
  /** Of these agents, those that no process has now, and none had within the last ten minutes. */
  abandoned(agents: readonly string[]): Promise<readonly string[]>;
}

/** What a store tells about its cells. */
export interface CellEvents {
  /** This process owns them now, and every earlier commit of it is over. It has to recover their tasks. */
  gained(cells: readonly number[]): void;
  /**
   * Others may own them from now on, also because this process has released them: runs must end at once, and what is in memory is outdated.
   * Told before a commit fails with a CellsLostError.
   */
  lost(cells: readonly number[]): void;
  /**
   * Others own fewer cells than this process: which of its cells does nobody use? The store may release those. If they are fewer than
   * `wanted`, cells are added in which runs only wait for an answer: `lost` ends these, and the answer starts them again at the next owner.
   */
  idle(wanted: number): Promise<readonly number[]>;
  /** The store can't be used any more. The process should end. */
  failed(cause: unknown): void;
}

/**
 * The task or conversation is in a cell of another process. The server passes the request on to that one; a caller to whom nobody does
 * gets UNAVAILABLE, with a time to come back.
 */
export class ElsewhereError extends A2AError {
  /** The cell that the request belongs to. */
  readonly cell: number;

  constructor(cell: number) {
    // It is expected for each request that is passed on, where recording the stack would be a twentieth of the work.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super('UNAVAILABLE', 'another node of this cluster has this task at the moment', { retryAfterMs: 1000 });
    Error.stackTraceLimit = stackTraceLimit;
    this.cell = cell;
  }
}

/**
 * A commit for cells that this process does not own any more. Nothing of the batch was written. The engine drops what belongs to these cells and
 * commits the rest again.
 */
export class CellsLostError extends Error {
  override readonly name: string = 'CellsLostError';
  /** The cells of the batch that belong to others, or to nobody. None: this process is about to get a new number, and may then write the batch. */
  readonly cells: readonly number[];

  constructor(cells: readonly number[]) {
    super(`this process does not own the cells ${cells.join(', ')} any more`);
    this.cells = cells;
  }
}
