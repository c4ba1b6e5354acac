import { signal } from '@preact/signals';
import type { AdminTask } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { taskWords } from './words.ts';

/** Which tasks to list. */
export interface Filters {
  readonly agent: string;
  readonly status: string;
  readonly principal: string;
  readonly contextId: string;
  readonly text: string;
}

const PAGE = 1000;
const FRESH = 100;

/** The node's tasks, newest status first: the loaded rows, and the total number. */
export class TaskListState {
  readonly rows = signal<readonly AdminTask[]>([]);
  readonly total = signal(0);
  readonly problem = signal('');
  readonly isLoading = signal(false);
  readonly isEverLoaded = signal(false);
  readonly filters: Filters;
  #next: string | undefined = '';
  #wanted = 0;
  readonly #leaving = new AbortController();

  constructor(filters: Filters) {
    this.filters = filters;
  }

  close(): void {
    this.#leaving.abort();
  }

  get isWhole(): boolean {
    return this.#next === undefined;
  }

  /** Loads pages until this many rows are loaded, or all. */
  async want(count: number): Promise<void> {
    this.#wanted = Math.max(this.#wanted, count);
    if (this.isLoading.value) return;
    this.isLoading.value = true;
    try {
      while (this.#next !== undefined && (this.rows.value.length < this.#wanted || !this.isEverLoaded.value)) await this.#page();
      this.problem.value = '';
    } catch (thrown) {
      if (!this.#leaving.signal.aborted) this.problem.value = wordsFor(thrown);
    }
    this.isLoading.value = false;
  }

  async #page(): Promise<void> {
    const query = this.#query(PAGE);
    if (this.#next !== undefined && this.#next !== '') query.set('pageToken', this.#next);
    const { tasks, nextPageToken, totalSize } = await admin.tasks(query, this.#leaving.signal);
    const known = new Set(this.rows.value.map(({ id }) => id));
    this.rows.value = [...this.rows.value, ...tasks.filter(({ id }) => !known.has(id))];
    this.#next = nextPageToken === '' ? undefined : nextPageToken;
    this.total.value = totalSize;
    this.isEverLoaded.value = true;
  }

  /** Changed tasks have a newer status, so they are at the front. */
  async refresh(): Promise<void> {
    if (!this.isEverLoaded.value || this.isLoading.value) return;
    try {
      const { tasks, totalSize } = await admin.tasks(this.#query(FRESH), this.#leaving.signal);
      const fresh = new Set(tasks.map(({ id }) => id));
      const kept = this.rows.value.filter(({ id }) => !fresh.has(id));
      // When all tasks fit on one page, a missing task was deleted; otherwise it may only be older.
      this.rows.value = totalSize <= tasks.length ? tasks : [...tasks, ...kept];
      this.total.value = totalSize;
      this.problem.value = '';
    } catch (thrown) {
      if (!this.#leaving.signal.aborted) this.problem.value = wordsFor(thrown);
    }
  }

  forget(id: string): void {
    this.rows.value = this.rows.value.filter((row) => row.id !== id);
    this.total.value -= 1;
  }

  #query(pageSize: number): URLSearchParams {
    const query = new URLSearchParams({ pageSize: String(pageSize) });
    for (const name of ['agent', 'status', 'principal', 'contextId'] as const)
      if (this.filters[name] !== '') query.set(name, this.filters[name]);
    return query;
  }
}

/** Whether a row contains the search text. */
export function matches(task: AdminTask, text: string): boolean {
  const wanted = text.toLowerCase();
  return [
    task.id,
    task.agent,
    task.principal,
    task.contextId,
    task.alias ?? '',
    task.dialect,
    task.state,
    taskWords.value.get(task.id)?.text ?? '',
  ].some((word) => word.toLowerCase().includes(wanted));
}
