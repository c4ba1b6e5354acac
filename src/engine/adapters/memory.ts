import { unreachable } from '#protocol';
import type { Blobs, Entry, EntryRange, PushRow, SendName, SendRecord, Store, TaskKey, TaskRow, Write } from '../ports.ts';
import { MemoryIndex } from './memory-index.ts';

type TaskWrite = Extract<Write, { readonly kind: 'task' }>;

/** A task with its log. Entry n stands at n - 1. */
interface Kept {
  row: TaskRow;
  readonly entries: Entry[];
  /** All but the artifact updates. */
  readonly words: Entry[];
  readonly pushes: Map<string, PushRow>;
  /** Names of the sends that went here. */
  readonly sends: Set<string>;
}

/** Tasks that live as long as the process. Everything the contract asks for but durability. */
export function memoryStore(): Store {
  const kept = new MemoryTasks();
  const { index, sends } = kept;
  return {
    commit: (batch) => {
      kept.check(batch);
      for (const write of batch) kept.apply(write);
    },
    lastKey: () => kept.lastKey,
    task: (scope, id) => index.byId(scope, id),
    byAlias: (owner, agent, alias) => index.byAlias(owner, agent, alias),
    waiting: (filter, limit) => index.waiting(filter, limit),
    send: (name) => sends.get(nameOf(name)),
    list: (query) => index.list(query),
    count: (filter) => index.count(filter),
    entries: (key, range) => entriesOf(kept.tasks.get(key), range),
    pushConfigs: (key) => [...(kept.tasks.get(key)?.pushes.values() ?? [])],
    unfinished: () => index.unfinished(),
    quiet: (phase, range) => index.quiet(phase, range),
    finished: () => index.finished,
    close: () => {},
  };
}

class MemoryTasks {
  readonly tasks = new Map<TaskKey, Kept>();
  readonly index = new MemoryIndex();
  readonly sends = new Map<string, SendRecord>();
  lastKey = 0;

  /** A batch is refused before any of it is taken in. */
  check(batch: readonly Write[]): void {
    const lasts = new Map<TaskKey, number>();
    for (const write of batch) {
      if (write.kind !== 'task') continue;
      const stored = lasts.get(write.row.key) ?? this.tasks.get(write.row.key)?.row.last;
      if (write.isNew && this.index.byId('any', write.row.id) !== undefined) throw new Error(`the id ${write.row.id} is taken`);
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
        this.#mark(nameOf(write.name));
        break;
      case 'push':
        this.tasks.get(write.task)?.pushes.set(write.push.config.id, write.push);
        break;
      case 'unpush':
        this.tasks.get(write.task)?.pushes.delete(write.id);
        break;
      case 'forget':
        this.#forget(write.task);
        break;
      case 'forgetSends':
        this.#forgetSends(write.before);
        break;
      default:
        unreachable(write);
    }
  }

  #keepTask({ row, entries }: TaskWrite): void {
    const kept: Kept = this.tasks.get(row.key) ?? { row, entries: [], words: [], pushes: new Map(), sends: new Set() };
    kept.row = row;
    for (const entry of entries) {
      kept.entries.push(entry);
      if (entry.event.artifactUpdate === undefined) kept.words.push(entry);
    }
    this.tasks.set(row.key, kept);
    this.index.put(row);
    if (row.key > this.lastKey) this.lastKey = row.key;
  }

  #keepSend(record: SendRecord): void {
    const name = nameOf(record);
    this.sends.set(name, record);
    if (record.task !== undefined) this.tasks.get(record.task.key)?.sends.add(name);
  }

  #mark(name: string): void {
    const record = this.sends.get(name);
    if (record !== undefined) this.sends.set(name, { ...record, delivered: true });
  }

  #forget(key: TaskKey): void {
    const kept = this.tasks.get(key);
    if (kept === undefined) return;
    this.tasks.delete(key);
    this.index.remove(kept.row);
    for (const name of kept.sends) if (this.sends.get(name)?.task?.key === key) this.sends.delete(name);
  }

  #forgetSends(before: number): void {
    for (const [name, record] of this.sends) if (record.task === undefined && record.at < before) this.sends.delete(name);
  }
}

function checkContinues({ row, isNew, entries }: TaskWrite, stored: number | undefined): void {
  if (isNew !== (stored === undefined)) throw new Error(`task ${row.key} is ${isNew ? 'there already' : 'not there'}`);
  let last = stored ?? 0;
  for (const { seq } of entries) {
    if (seq !== last + 1) throw new Error(`entry ${seq} does not continue task ${row.key}, which stands at ${last}`);
    last = seq;
  }
  if (row.last !== last) throw new Error(`task ${row.key} stands at ${last}, not at ${row.last}`);
}

function entriesOf(kept: Kept | undefined, { after, limit, only }: EntryRange): readonly Entry[] {
  if (kept === undefined) return [];
  if (only === undefined) return kept.entries.slice(after, after + limit);
  let low = 0;
  let high = kept.words.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((kept.words[middle]?.seq ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  return kept.words.slice(low, low + limit);
}

function nameOf({ owner, agent, token }: SendName): string {
  return JSON.stringify([owner.tenant, owner.principal, agent, token]);
}

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
