import type { ExternalId, TaskId } from '#protocol';
import type { OwnCells } from '../cells/own-cells.ts';
import type { Owner, Store, TaskKey, TaskRow, TaskScope } from '../ports.ts';
import { ShortLivedMap } from '../short-lived-map.ts';
import { isIn, scopedKey } from './keys.ts';
import type { LiveTask } from './live-task.ts';
import { TaskInMemory } from './task-in-memory.ts';
import type { TaskParts } from './task-parts.ts';

/** The tasks in memory. Everything else is in the store. */
export interface TaskTable {
  readonly size: number;
  all(): Iterable<LiveTask>;
  get(id: TaskId): LiveTask | undefined;
  /** The newest task of that name, if it is in memory. It may not be in the store yet. */
  named(owner: Owner, agent: string, alias: ExternalId): LiveTask | undefined;
  /**
   * The task, loaded if necessary and held until `release`. Undefined if there is none in this scope. Throws an ElsewhereError if another
   * process owns the task.
   */
  hold(scope: TaskScope, id: TaskId, why?: HoldReason): Promise<LiveTask | undefined>;
  /** A new task, held, and not in the table until `add`. `follows`: the task that has its alias now. */
  create(row: TaskRow, follows?: TaskKey): LiveTask;
  add(task: LiveTask): void;
  remove(task: LiveTask): void;
  /** Removes the task with its name. */
  drop(task: LiveTask): void;
  /** Marks tasks that are being deleted: `hold` does not find them any more. */
  startDeleting(id: TaskId): void;
  endDeleting(id: TaskId): void;
  isDeleting(id: TaskId): boolean;
  /** Nobody uses, loads or deletes the task. */
  isFree(id: TaskId): boolean;
  /** Resolves when the task is not being loaded any more. */
  loaded(id: TaskId): Promise<unknown>;
}

/**
 * What a task is held for. `read`: it is not changed, and nobody waits for it, so a task of another process will do. `recover`: its cell is
 * being recovered. The difference matters only where several processes have cells.
 */
export type HoldReason = 'use' | 'read' | 'recover';

export interface TaskTableOptions extends Omit<TaskParts, 'onIdle'> {
  readonly store: Pick<Store, 'task'>;
  readonly cells: OwnCells | undefined;
}

/**
 * An empty table. Tasks enter it when they are created or loaded, and leave it when nothing uses them.
 */
export function createTaskTable(options: TaskTableOptions): TaskTable {
  return new Table(options);
}

/** `again`: look again when it resolves. */
type Found = LiveTask | { readonly again: Promise<void> | undefined } | undefined;

class Table implements TaskTable {
  readonly #parts: TaskParts;
  readonly #store: Pick<Store, 'task'>;
  readonly #cells: OwnCells | undefined;
  readonly #tasks = new ShortLivedMap<TaskId, LiveTask>();
  /** By owner, agent and the caller's name. */
  readonly #named = new Map<string, LiveTask>();
  readonly #loading = new Map<TaskId, Promise<unknown>>();
  readonly #deleting = new Set<TaskId>();

  constructor({ store, cells, ...parts }: TaskTableOptions) {
    this.#store = store;
    this.#cells = cells;
    this.#parts = { ...parts, onIdle: (task) => this.drop(task) };
  }

  get size(): number {
    return this.#tasks.size;
  }

  all(): Iterable<LiveTask> {
    return this.#tasks.values();
  }

  get(id: TaskId): LiveTask | undefined {
    return this.#tasks.get(id);
  }

  named(owner: Owner, agent: string, alias: ExternalId): LiveTask | undefined {
    return this.#named.get(scopedKey(owner, agent, alias));
  }

  async hold(scope: TaskScope, id: TaskId, why: HoldReason = 'use'): Promise<LiveTask | undefined> {
    for (;;) {
      if (this.#deleting.has(id)) return undefined;
      const task = this.#tasks.get(id);
      if (task === undefined && this.#loading.has(id)) {
        // Another call is loading the task. A second read of the row could return an older one, so look again afterwards.
        await this.loaded(id);
        continue;
      }
      const found = task === undefined ? await this.#find(scope, id, why) : this.#holdLive(scope, task, why);
      if (found === undefined || !('again' in found)) return found;
      await found.again;
    }
  }

  #holdLive(scope: TaskScope, task: LiveTask, why: HoldReason): Found | Promise<LiveTask | undefined> {
    if (!isIn(scope, task.row.owner)) return undefined;
    const again = this.#cells === undefined ? undefined : this.#enter(task.row, why);
    // Other processes may have read a commit whose answer is not here yet.
    const isBehind = this.#cells !== undefined && why === 'read' && task.committed > 0 && task.saving.entries.length > 0;
    if (again === 'elsewhere' || isBehind) return this.#view(scope, task.row.id);
    if (again !== undefined) return { again };
    task.hold();
    return task;
  }

  #find(scope: TaskScope, id: TaskId, why: HoldReason): Promise<Found> {
    return this.#cells !== undefined && why === 'read' ? this.#view(scope, id) : this.#load(scope, id, why);
  }

  create(row: TaskRow, follows?: TaskKey): LiveTask {
    return new TaskInMemory(this.#parts, row, { isNew: true, follows });
  }

  add(task: LiveTask): void {
    const { id, alias, owner, agent } = task.row;
    this.#tasks.set(id, task);
    if (alias !== undefined) this.#named.set(scopedKey(owner, agent, alias), task);
  }

  remove(task: LiveTask): void {
    this.#tasks.delete(task.row.id);
  }

  startDeleting(id: TaskId): void {
    this.#deleting.add(id);
  }

  endDeleting(id: TaskId): void {
    this.#deleting.delete(id);
  }

  isDeleting(id: TaskId): boolean {
    return this.#deleting.has(id);
  }

  isFree(id: TaskId): boolean {
    return !this.#tasks.has(id) && !this.#loading.has(id) && !this.#deleting.has(id);
  }

  async loaded(id: TaskId): Promise<unknown> {
    return this.#loading.get(id)?.catch(() => {});
  }

  /** Recovery loads tasks too, so the wait for it is not part of loading. */
  #load(scope: TaskScope, id: TaskId, why: HoldReason): Promise<Found> {
    const loading = (async () => {
      try {
        const version = this.#cells?.version;
        const row = await this.#store.task(scope, id);
        if (row === undefined) return undefined;
        const again = this.#cells === undefined ? undefined : this.#enter(row, why);
        // A cell that was gained during the read may have a newer row.
        if (again instanceof Promise || this.#cells?.version !== version) return { again: again instanceof Promise ? again : undefined };
        const task = new TaskInMemory(this.#parts, row, { isNew: false });
        this.#tasks.set(id, task);
        return task;
      } finally {
        this.#loading.delete(id);
      }
    })();
    this.#loading.set(id, loading);
    return loading;
  }

  /** Undefined: the task can be used now. A promise: when its cell is recovered. Throws an ElsewhereError, unless the task is only read. */
  #enter(row: TaskRow, why: HoldReason): Promise<void> | 'elsewhere' | undefined {
    const cells = this.#cells;
    if (cells === undefined || cells.isHere(row)) return undefined;
    if (why === 'read') return 'elsewhere';
    return why === 'recover' && cells.isOwn(row) ? undefined : cells.enter(row);
  }

  /** The task as the store has it, for somebody who only reads it. */
  async #view(scope: TaskScope, id: TaskId): Promise<LiveTask | undefined> {
    const row = await this.#store.task(scope, id);
    return row === undefined ? undefined : new TaskInMemory(this.#parts, row, { isNew: false });
  }

  drop(task: LiveTask): void {
    const { id, alias, owner, agent } = task.row;
    if (this.#tasks.get(id) === task) this.#tasks.delete(id);
    if (alias === undefined) return;
    const key = scopedKey(owner, agent, alias);
    if (this.#named.get(key) === task) this.#named.delete(key);
  }
}
