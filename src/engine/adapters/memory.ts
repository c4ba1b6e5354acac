import { unreachable } from '#protocol';
import type { Blobs, EntryRange, LogEntry, PushRow, SendName, SendRecord, Store, TaskKey, TaskRow, Write } from '../ports.ts';
import { memoryNames } from './memory/names.ts';
import type { MemoryOutbox } from './memory/outbox.ts';
import { memoryOutbox } from './memory/outbox.ts';
import { memorySearch } from './memory/search.ts';
import { MemoryIndex } from './memory/task-index.ts';

type TaskWrite = Extract<Write, { readonly kind: 'task' }>;

/**
 * A task with its log. The rare members are created when they are needed, because most tasks have few
 * entries and no pushes or sends.
 */
interface StoredTask {
  row: TaskRow;
  /** Entry n is at index n - 1. */
  readonly entries: LogEntry[];
  /** All entries but artifact updates. Created when a long log is read for the first time. */
  words: LogEntry[] | undefined;
  pushes: Map<string, PushRow> | undefined;
  /** Tokens of the sends to this task. */
  sends: string[] | undefined;
}

const SHORT_LOG = 64;

/**
 * A store in memory: tasks live as long as the process. It meets the whole contract of `Store` except
 * durability.
 *
 * ```ts
 * const engine = createEngine({ store: memoryStore(), agents: { echo } });
 * ```
 */
export function memoryStore(): Store {
  const kept = new MemoryTasks();
  const { index } = kept;
  return {
    commit: (batch) => {
      kept.check(batch);
      for (const write of batch) kept.apply(write);
    },
    lastKey: () => kept.lastKey,
    task: (scope, id) => index.byId(scope, id),
    byAlias: (owner, agent, alias) => index.byAlias(owner, agent, alias),
    waiting: (filter, limit) => index.waiting(filter, limit),
    send: (name) => index.send(name),
    directAnswers: (owner) => index.sendsOf(owner).filter(({ task }) => task === undefined),
    list: (query) => index.list(query),
    count: (filter) => index.count(filter),
    entries: (key, range) => entriesOf(kept.tasks.get(key), range),
    outbox: (query) => kept.outbox.list(query, (key) => kept.tasks.get(key)?.row),
    outboxStats: () => kept.outbox.stats(),
    pushConfigs: (key) => [...(kept.tasks.get(key)?.pushes?.values() ?? [])],
    unfinished: () => index.unfinished(),
    quiet: (phase, range) => index.quiet(phase, range),
    finished: () => index.finished,
    names: memoryNames(),
    search: memorySearch(kept.tasks),
    close: () => {},
  };
}

class MemoryTasks {
  readonly tasks = new Map<TaskKey, StoredTask>();
  readonly index = new MemoryIndex();
  readonly outbox: MemoryOutbox = memoryOutbox();
  lastKey = 0;

  /** Rejects a wrong batch before any of it is applied. */
  check(batch: readonly Write[]): void {
    const lasts = new Map<TaskKey, number>();
    for (const write of batch) {
      if (write.kind !== 'task') continue;
      const stored = lasts.get(write.row.key) ?? this.tasks.get(write.row.key)?.row.last;
      if (write.isNew && this.index.byId('any', write.row.id) !== undefined) throw new Error(`the task id ${write.row.id} exists already`);
      checkContinues(write, stored);
      lasts.set(write.row.key, write.row.last);
    }
  }

  apply(write: Write): void {
    switch (write.kind) {
      case 'task':
        this.#keepTask(write);
        break;
      case 'send':
        this.#keepSend(write.record);
        break;
      case 'delivered':
        this.#mark(write.name);
        break;
      case 'push':
        this.#keepPush(write.task, write.push);
        break;
      case 'unpush':
        this.tasks.get(write.task)?.pushes?.delete(write.id);
        this.outbox.dropAll((row) => row.task === write.task && row.config === write.id);
        break;
      case 'outbox':
        if (this.tasks.get(write.row.task)?.pushes?.has(write.row.config) === true) this.outbox.put(write.row);
        break;
      case 'unoutbox':
        this.outbox.drop(write.n);
        break;
      case 'forget':
        this.#forget(write.task);
        break;
      case 'forgetSends':
        this.#forgetSends(write.before);
        break;
      case 'forgetOwner':
        for (const record of this.index.sendsOf(write.owner)) if (record.task === undefined) this.index.removeSend(record);
        break;
      default:
        unreachable(write);
    }
  }

  #keepTask({ row, entries }: TaskWrite): void {
    const kept = this.tasks.get(row.key);
    if (kept === undefined) {
      this.tasks.set(row.key, { row, entries: entries.slice(), words: undefined, pushes: undefined, sends: undefined });
    } else {
      kept.row = row;
      for (const entry of entries) kept.entries.push(entry);
      if (kept.words !== undefined) for (const entry of entries) if (isWord(entry)) kept.words.push(entry);
    }
    this.index.put(row);
    if (row.key > this.lastKey) this.lastKey = row.key;
  }

  #keepSend(record: SendRecord): void {
    this.index.putSend(record);
    const kept = record.task === undefined ? undefined : this.tasks.get(record.task.key);
    if (kept === undefined) return;
    if (kept.sends === undefined) kept.sends = [record.token];
    else kept.sends.push(record.token);
  }

  #mark(name: SendName): void {
    const record = this.index.send(name);
    if (record !== undefined) this.index.putSend({ ...record, delivered: true });
  }

  #keepPush(key: TaskKey, push: PushRow): void {
    const kept = this.tasks.get(key);
    if (kept === undefined) return;
    kept.pushes ??= new Map();
    kept.pushes.set(push.config.id, push);
  }

  #forget(key: TaskKey): void {
    const kept = this.tasks.get(key);
    if (kept === undefined) return;
    this.tasks.delete(key);
    this.index.remove(kept.row);
    if (kept.pushes !== undefined) this.outbox.dropAll((row) => row.task === key);
    const { owner, agent } = kept.row;
    for (const token of kept.sends ?? []) {
      const name: SendName = { owner, agent, token };
      if (this.index.send(name)?.task?.key === key) this.index.removeSend(name);
    }
  }

  #forgetSends(before: number): void {
    for (const record of this.index.everySend()) if (record.task === undefined && record.at < before) this.index.removeSend(record);
  }
}

/**
 * Throws if the entries do not continue the stored log: the writer has seen another version of the
 * task.
 */
function checkContinues({ row, isNew, entries }: TaskWrite, stored: number | undefined): void {
  if (isNew !== (stored === undefined)) throw new Error(`task ${row.key} ${isNew ? 'exists already' : 'does not exist'}`);
  let last = stored ?? 0;
  for (const { seq } of entries) {
    if (seq !== last + 1) throw new Error(`entry ${seq} does not continue task ${row.key}, whose last entry is ${last}`);
    last = seq;
  }
  if (row.last !== last) throw new Error(`the last entry of task ${row.key} is ${last}, not ${row.last}`);
}

/**
 * A page of the log. Entries without chunks are found by binary search, so the cost does not depend on
 * the number of chunks.
 */
function entriesOf(kept: StoredTask | undefined, { after, limit, only }: EntryRange): readonly LogEntry[] {
  if (kept === undefined) return [];
  if (only === undefined) return kept.entries.slice(after, after + limit);
  if (kept.entries.length <= SHORT_LOG) return kept.entries.filter((entry) => entry.seq > after && isWord(entry)).slice(0, limit);
  kept.words ??= kept.entries.filter(isWord);
  let low = 0;
  let high = kept.words.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((kept.words[middle]?.seq ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  return kept.words.slice(low, low + limit);
}

function isWord({ event }: LogEntry): boolean {
  return event.artifactUpdate === undefined;
}

/**
 * Blobs in memory, for tests and nodes that keep nothing.
 *
 * ```ts
 * const engine = createEngine({ store: memoryStore(), blobs: memoryBlobs(), agents });
 * ```
 */
export function memoryBlobs(): Blobs {
  const blobs = new Map<TaskKey, Map<string, Uint8Array>>();
  return {
    put: async (task, name, content) => {
      const kept = blobs.get(task) ?? new Map<string, Uint8Array>();
      blobs.set(task, kept.set(name, content.slice()));
    },
    get: async (task, name) => blobs.get(task)?.get(name)?.slice(),
    forget: async (task) => void blobs.delete(task),
  };
}
