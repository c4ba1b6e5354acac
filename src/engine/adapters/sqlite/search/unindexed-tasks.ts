import type { Write } from '../../../ports.ts';
import { textOfTaskNow } from '../../../search/task-text.ts';
import { codeOf, FIRST_FINISHED } from '../../shared/state-codes.ts';
import type { CreatedHeads } from '../commit/apply-write.ts';
import { toText } from '../database/text.ts';
import type { StoredScope } from './scope-words.ts';

/** A task as a commit of this process left it, with all that the index needs. */
export interface CommittedTask extends StoredScope {
  readonly status_at: number;
  /** Hash of the last segment of its log. */
  readonly head: string;
  readonly text: string;
}

/** Tasks for the index. Undefined: the thread that indexes reads the task. */
export type TasksToIndex = ReadonlyMap<number, CommittedTask | undefined>;

type TaskWrite = Extract<Write, { readonly kind: 'task' }>;

/** A longer task is read. */
const SHORT_BYTES = 16_384;
const CHARS_MAX = 8 * 2 ** 20;

/**
 * Gathers changed tasks. Of a short task that one commit created and finished, the text is kept, because reading and parsing it is most of the
 * work of the thread that indexes. When the texts have `charsMax`, further tasks are read.
 */
export class UnindexedTasks {
  #tasks = new Map<number, CommittedTask | undefined>();
  #texts = 0;
  #chars = 0;
  readonly #charsMax: number;

  constructor(charsMax: number = CHARS_MAX) {
    this.#charsMax = charsMax;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** The number of tasks whose text is kept. */
  get texts(): number {
    return this.#texts;
  }

  keys(): Iterable<number> {
    return this.#tasks.keys();
  }

  get(key: number): CommittedTask | undefined {
    return this.#tasks.get(key);
  }

  /** Without `task`, the task has to be read. */
  set(key: number, task?: CommittedTask): void {
    this.delete(key);
    const kept = task !== undefined && this.#chars + task.text.length <= this.#charsMax ? task : undefined;
    this.#tasks.set(key, kept);
    if (kept !== undefined) this.#count(kept, 1);
  }

  delete(key: number): void {
    const kept = this.#tasks.get(key);
    if (kept !== undefined) this.#count(kept, -1);
    this.#tasks.delete(key);
  }

  #count({ text }: CommittedTask, sign: 1 | -1): void {
    this.#texts += sign;
    this.#chars += sign * text.length;
  }

  /** Returns all tasks, and starts over. */
  take(): TasksToIndex {
    const tasks = this.#tasks;
    this.#tasks = new Map();
    [this.#texts, this.#chars] = [0, 0];
    return tasks;
  }
}

/** Returns undefined for a task that has to be read. */
export function committedTask({ row, isNew, entries }: TaskWrite, heads: CreatedHeads): CommittedTask | undefined {
  const [state, head] = [codeOf(row.state), isNew ? heads.get(row.key) : undefined];
  if (head === undefined || state < FIRST_FINISHED || row.bytes > SHORT_BYTES) return undefined;
  return {
    tenant: toText(row.owner.tenant),
    principal: toText(row.owner.principal),
    agent: toText(row.agent),
    context: toText(row.contextId),
    state,
    status_at: row.statusAt,
    head,
    text: textOfTaskNow(row.last, () => entries),
  };
}
