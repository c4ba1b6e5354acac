import { unreachable } from '#protocol';
import type { LogEntry, OutboxRow, Owner, PushRow, SendName, SendRecord, TaskKey, TaskRow, Write } from '../../ports.ts';
import { StoreError } from '../shared/store-error.ts';
import type { RealmName } from './realms.ts';

type TaskWrite = Extract<Write, { readonly kind: 'task' }>;

/** What a batch does to one task. */
export interface TaskChange {
  readonly isNew: boolean;
  /** The last entry before the batch. */
  readonly was: number;
  row: TaskRow;
  readonly entries: LogEntry[];
  /** The task that had the alias of this new one. */
  readonly follows: TaskKey | undefined;
}

/** What a batch does to a name of a send. */
export type SendChange =
  /** `source`: the record as the engine gave it. `was`: the task whose record it replaces. `isFree`: the record that it replaces is delivered, though not in the store yet. */
  | {
      readonly kind: 'put';
      readonly record: SendRecord;
      readonly source: SendRecord;
      readonly was?: TaskKey | undefined;
      readonly isFree?: boolean;
    }
  | { readonly kind: 'mark'; readonly name: SendName }
  | { readonly kind: 'drop'; readonly name: SendName };

/** What a batch does to a push config. `isMoved`: it was deleted before, so it goes to the end of the list. */
export type PushChange =
  | { readonly kind: 'put'; readonly task: TaskKey; readonly push: PushRow; readonly isMoved: boolean }
  | { readonly kind: 'drop'; readonly task: TaskKey; readonly id: string };

/** The effect of a batch, in which every row of the database occurs once: one statement can't change a row twice. */
export interface NetBatch {
  readonly tasks: Map<TaskKey, TaskChange>;
  readonly sends: Map<string, SendChange>;
  readonly pushes: Map<string, PushChange>;
  readonly outbox: Map<number, OutboxRow | undefined>;
  readonly forgotten: Set<TaskKey>;
  sendsBefore: number | undefined;
  /** Owners whose sends without a task are deleted. */
  readonly owners: Owner[];
}

/** Folds a batch into its effect. Throws a StoreError if the batch contradicts itself. */
export function netOf(batch: readonly Write[]): NetBatch {
  const net: NetBatch = {
    tasks: new Map(),
    sends: new Map(),
    pushes: new Map(),
    outbox: new Map(),
    forgotten: new Set(),
    sendsBefore: undefined,
    owners: [],
  };
  for (const write of batch) apply(net, write);
  return net;
}

/** The owners and agents that the batch needs realms for. */
export function* realmsOf({ tasks, sends }: NetBatch): Generator<RealmName> {
  for (const { row } of tasks.values()) yield row;
  for (const change of sends.values()) yield change.kind === 'put' ? change.record : change.name;
}

/** The keys of the tasks that the batch makes. */
export function newTasks({ tasks }: NetBatch): readonly TaskKey[] {
  return [...tasks.values()].filter(({ isNew }) => isNew).map(({ row }) => row.key);
}

function apply(net: NetBatch, write: Write): void {
  switch (write.kind) {
    case 'task':
      addTask(net, write);
      return;
    case 'send':
      addSend(net, write.record, write.was);
      return;
    case 'delivered':
      markDelivered(net, write.name);
      return;
    case 'push':
      addPush(net, write.task, write.push);
      return;
    case 'unpush':
      net.pushes.set(pushKeyOf(write.task, write.id), { kind: 'drop', task: write.task, id: write.id });
      for (const [n, row] of net.outbox) if (row?.task === write.task && row.config === write.id) net.outbox.set(n, undefined);
      return;
    case 'outbox':
      if (!net.forgotten.has(write.row.task) && net.pushes.get(pushKeyOf(write.row.task, write.row.config))?.kind !== 'drop')
        net.outbox.set(write.row.n, write.row);
      return;
    case 'unoutbox':
      net.outbox.set(write.n, undefined);
      return;
    case 'forget':
      forget(net, write.task);
      return;
    case 'forgetSends':
      forgetSends(net, write.before);
      return;
    case 'forgetOwner':
      forgetOwner(net, write.owner);
      return;
    default:
      unreachable(write);
  }
}

function addSend({ sends }: NetBatch, record: SendRecord, was: TaskKey | undefined): void {
  const key = nameKey(record);
  const known = sends.get(key);
  // Within one batch the engine has taken care that a name is used once.
  const [isFree, before] = known?.kind === 'put' ? [known.isFree ?? false, known.was] : [known !== undefined, was];
  sends.set(key, { kind: 'put', record, source: record, was: before, isFree });
}

function addTask({ tasks, forgotten }: NetBatch, { row, isNew, entries, follows }: TaskWrite): void {
  const known = tasks.get(row.key);
  if (isNew && (known !== undefined || forgotten.has(row.key))) throw conflict(row, 'exists already');
  if (!isNew && forgotten.has(row.key)) throw conflict(row, 'does not exist');
  const was = known?.row.last ?? (isNew ? 0 : row.last - entries.length);
  let last = was;
  for (const { seq } of entries) {
    if (seq !== last + 1) throw conflict(row, `has ${last} as its last entry, so entry ${seq} does not continue it`);
    last = seq;
  }
  if (row.last !== last) throw conflict(row, `has ${last} as its last entry, not ${row.last}`);
  if (known === undefined) {
    tasks.set(row.key, { isNew, was, row, entries: entries.slice(), follows });
    return;
  }
  known.row = row;
  for (const entry of entries) known.entries.push(entry);
}

function markDelivered({ sends }: NetBatch, name: SendName): void {
  const key = nameKey(name);
  const known = sends.get(key);
  if (known === undefined) sends.set(key, { kind: 'mark', name });
  else if (known.kind === 'put') sends.set(key, { ...known, record: { ...known.record, delivered: true } });
}

function addPush({ pushes, forgotten }: NetBatch, task: TaskKey, push: PushRow): void {
  if (forgotten.has(task)) return;
  const key = pushKeyOf(task, push.config.id);
  const known = pushes.get(key);
  pushes.set(key, { kind: 'put', task, push, isMoved: known?.kind === 'drop' || (known?.kind === 'put' && known.isMoved) });
}

function forget({ tasks, sends, pushes, outbox, forgotten }: NetBatch, task: TaskKey): void {
  tasks.delete(task);
  forgotten.add(task);
  for (const [key, change] of pushes) if (change.task === task) pushes.delete(key);
  for (const [n, row] of outbox) if (row?.task === task) outbox.set(n, undefined);
  for (const [key, change] of sends)
    if (change.kind === 'put' && change.record.task?.key === task) sends.set(key, { kind: 'drop', name: change.record });
}

function forgetSends(net: NetBatch, before: number): void {
  net.sendsBefore = Math.max(before, net.sendsBefore ?? before);
  for (const [key, change] of net.sends) {
    if (change.kind !== 'put' || change.record.task !== undefined || change.record.at >= before) continue;
    net.sends.set(key, { kind: 'drop', name: change.record });
  }
}

function forgetOwner(net: NetBatch, owner: Owner): void {
  net.owners.push(owner);
  for (const [key, change] of net.sends) {
    const { tenant, principal } = change.kind === 'put' ? change.record.owner : change.name.owner;
    if (change.kind !== 'put' || change.record.task !== undefined || tenant !== owner.tenant || principal !== owner.principal) continue;
    net.sends.set(key, { kind: 'drop', name: change.record });
  }
}

/** Names a send in memory. */
export function nameKey({ owner, agent, token }: SendName): string {
  return JSON.stringify([owner.tenant, owner.principal, agent, token]);
}

export function pushKeyOf(task: TaskKey, id: string): string {
  return `${task} ${id}`;
}

function conflict({ key }: TaskRow, what: string): StoreError {
  return new StoreError('conflict', `task ${key} ${what}`);
}
