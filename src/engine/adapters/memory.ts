import { unreachable } from '#protocol';
import type { Blobs, PushRow, SendName, SendRecord, Store, TaskKey, Write } from '../ports.ts';
import type { MemoryTask } from './memory/memory-task.ts';
import { addEntries, entriesOf, recordOf, storedRow, storedSend } from './memory/memory-task.ts';
import { memoryNames } from './memory/names.ts';
import type { MemoryOutbox } from './memory/outbox.ts';
import { memoryOutbox } from './memory/outbox.ts';
import { memorySearch } from './memory/search.ts';
import { MemoryIndex } from './memory/task-index.ts';

type TaskWrite = Extract<Write, { readonly kind: 'task' }>;

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
    send: (name) => {
      const send = index.send(name);
      return send === undefined ? undefined : recordOf(send, name);
    },
    directAnswers: (owner) =>
      [...index.sendsOf(owner)].filter(([, { task }]) => task === undefined).map(([name, send]) => recordOf(send, name)),
    list: (query) => index.list(query),
    count: (filter) => index.count(filter),
    entries: (key, range) => {
      const task = kept.tasks.get(key);
      return task === undefined ? [] : entriesOf(task, range);
    },
    outbox: (query) => kept.outbox.list(query, (key) => kept.tasks.get(key)?.mark.row),
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
  readonly tasks = new Map<TaskKey, MemoryTask>();
  readonly index = new MemoryIndex(this.tasks);
  readonly outbox: MemoryOutbox = memoryOutbox();
  lastKey = 0;

  /** Rejects a wrong batch before any of it is applied. */
  check(batch: readonly Write[]): void {
    const lasts = new Map<TaskKey, number>();
    for (const write of batch) {
      if (write.kind !== 'task') continue;
      const stored = lasts.get(write.row.key) ?? this.tasks.get(write.row.key)?.mark.row?.last;
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
        for (const [name, { task }] of this.index.sendsOf(write.owner)) if (task === undefined) this.index.removeSend(name);
        break;
      default:
        unreachable(write);
    }
  }

  #keepTask({ row, entries }: TaskWrite): void {
    const kept = this.tasks.get(row.key);
    const stored = storedRow(row, this.index.ownerOf(row));
    if (kept === undefined) {
      const task: MemoryTask = { mark: this.index.put(stored), words: '', chunks: '', pushes: undefined, sends: undefined };
      addEntries(task, entries, 0);
      this.tasks.set(row.key, task);
    } else {
      addEntries(kept, entries, kept.mark.row?.last ?? 0);
      kept.mark = this.index.put(stored, kept.mark);
    }
    if (row.key > this.lastKey) this.lastKey = row.key;
  }

  #keepSend(record: SendRecord): void {
    const task = record.task === undefined ? undefined : this.tasks.get(record.task.key);
    const send = storedSend(record, task);
    this.index.putSend(record, send);
    if (task !== undefined) task.sends = send;
  }

  #mark(name: SendName): void {
    const send = this.index.send(name);
    if (send !== undefined) send.delivered = true;
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
    const { row } = kept.mark;
    this.index.remove(kept.mark);
    if (kept.pushes !== undefined) this.outbox.dropAll((row) => row.task === key);
    if (row === undefined) return;
    const { owner, agent } = row;
    for (let send = kept.sends; send !== undefined; send = send.earlier) {
      const name: SendName = { owner, agent, token: send.token };
      if (this.index.send(name) === send) this.index.removeSend(name);
    }
  }

  #forgetSends(before: number): void {
    for (const [name, { task, at }] of this.index.everySend()) if (task === undefined && at < before) this.index.removeSend(name);
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
