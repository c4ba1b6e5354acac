import type {
  Blobs,
  ContextFilter,
  Entry,
  EntryRange,
  ListFilter,
  ListQuery,
  PushRow,
  SendName,
  SendRecord,
  Store,
  TaskKey,
  TaskRow,
  Write,
} from '../ports.ts';
import { MemoryIndex } from './memory-index.ts';

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
  const tasks = new Map<TaskKey, Kept>();
  const index = new MemoryIndex();
  const sends = new Map<string, SendRecord>();
  let lastKey = 0;

  const apply = (write: Write): void => {
    switch (write.kind) {
      case 'task':
        keepTask(write);
        return;
      case 'send':
        keepSend(write.record);
        return;
      case 'delivered': {
        const record = sends.get(nameOf(write.name));
        if (record !== undefined) sends.set(nameOf(write.name), { ...record, delivered: true });
        return;
      }
      case 'push':
        tasks.get(write.task)?.pushes.set(write.push.config.id, write.push);
        return;
      case 'unpush':
        tasks.get(write.task)?.pushes.delete(write.id);
        return;
      case 'forget':
        forget(write.task);
        return;
      case 'forgetSends':
        for (const [name, record] of sends) if (record.task === undefined && record.at < write.before) sends.delete(name);
    }
  };

  const keepTask = ({ row, entries }: Extract<Write, { kind: 'task' }>): void => {
    const kept: Kept = tasks.get(row.key) ?? { row, entries: [], words: [], pushes: new Map(), sends: new Set() };
    kept.row = row;
    for (const entry of entries) {
      kept.entries.push(entry);
      if (entry.event.artifactUpdate === undefined) kept.words.push(entry);
    }
    tasks.set(row.key, kept);
    index.put(row);
    if (row.key > lastKey) lastKey = row.key;
  };

  const keepSend = (record: SendRecord): void => {
    const name = nameOf(record);
    sends.set(name, record);
    if (record.task !== undefined) tasks.get(record.task.key)?.sends.add(name);
  };

  const forget = (key: TaskKey): void => {
    const kept = tasks.get(key);
    if (kept === undefined) return;
    tasks.delete(key);
    index.remove(kept.row);
    for (const name of kept.sends) if (sends.get(name)?.task?.key === key) sends.delete(name);
  };

  return {
    commit: (batch) => {
      check(tasks, index, batch);
      for (const write of batch) apply(write);
    },
    lastKey: () => lastKey,
    task: (scope, id) => index.byId(scope, id),
    byAlias: (owner, agent, alias) => index.byAlias(owner, agent, alias),
    waiting: (filter: ContextFilter, limit) => index.waiting(filter, limit),
    send: (name) => sends.get(nameOf(name)),
    list: (query: ListQuery) => index.list(query),
    count: (filter: ListFilter) => index.count(filter),
    entries: (key, range) => entriesOf(tasks.get(key), range),
    pushConfigs: (key) => [...(tasks.get(key)?.pushes.values() ?? [])],
    unfinished: () => index.unfinished(),
    quiet: (phase, range) => index.quiet(phase, range),
    finished: () => index.finished,
    close: () => {},
  };
}

/** A batch is refused before any of it is taken in. */
function check(tasks: ReadonlyMap<TaskKey, Kept>, index: MemoryIndex, batch: readonly Write[]): void {
  const lasts = new Map<TaskKey, number>();
  for (const write of batch) {
    if (write.kind === 'forget') lasts.delete(write.task);
    if (write.kind !== 'task') continue;
    const { row, entries, isNew } = write;
    const stored = lasts.get(row.key) ?? tasks.get(row.key)?.row.last;
    if (isNew !== (stored === undefined)) throw new Error(`task ${row.key} is ${isNew ? 'there already' : 'not there'}`);
    if (isNew && index.byId('any', row.id) !== undefined) throw new Error(`the id ${row.id} is taken`);
    let last = stored ?? 0;
    for (const { seq } of entries) {
      if (seq !== last + 1) throw new Error(`entry ${seq} does not continue task ${row.key}, which stands at ${last}`);
      last = seq;
    }
    if (row.last !== last) throw new Error(`task ${row.key} stands at ${last}, not at ${row.last}`);
    lasts.set(row.key, last);
  }
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
