import type { Agent, CallContext, Clock, DialectId, Ids, TaskEvent, TaskId, TaskState, Traits, WebhookForm } from '#protocol';
import { A2AError, isInterrupted, isTerminal, mayFollow } from '#protocol';
import type { Writer } from '../commit/group-commit.ts';
import type { EngineLimits } from '../limits.ts';
import type { AroundRun } from '../options.ts';
import type { Outbox } from '../outbox/webhooks.ts';
import type { Blobs, Entry, Owner, Scope, Store, TaskKey } from '../ports.ts';
import type { Timers } from '../timers.ts';
import type { Stamp } from '../timestamps.ts';
import type { Contexts } from '../turns/conversations.ts';
import type { Quotas } from '../turns/quotas.ts';
import type { Slots } from '../turns/slots.ts';
import type { Live, Reservation, Run } from './live-task.ts';
import { gathering, isQueued, NOTHING, newLive } from './live-task.ts';

/** What every part of the engine works on. There is one to an engine. */
export interface Core {
  readonly store: Store;
  readonly blobs: Blobs | undefined;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly limits: EngineLimits;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly aroundRun: AroundRun | undefined;
  readonly traitsOf: (dialect: DialectId) => Traits;
  readonly webhookOf: (dialect: DialectId) => WebhookForm;
  readonly outbox: Outbox;
  readonly slots: Slots;
  readonly quotas: Quotas;
  readonly contexts: Contexts;
  /** Tasks that something is happening to, by id. Everything else is in the store. */
  readonly lives: Map<TaskId, Live>;
  /** Those of them that callers have named, by owner, agent and name: the newest may not be in the store yet. */
  readonly aliases: Map<string, Live>;
  /** Reads of rows that will become lives. */
  readonly loading: Map<TaskId, Promise<unknown>>;
  /** Tasks on their way out: nobody can take hold of them any more. */
  readonly leaving: Set<TaskId>;
  /** Runs that have not ended, also those that were stopped and have not noticed. */
  readonly runs: Map<Run, Live>;
  /** Sends under way by name, and those whose answers went out since the last commit (`retries.ts`). */
  readonly reservations: Map<string, Reservation>;
  readonly delivered: Set<string>;
  /** Signs page tokens: another engine over the same store needs the same. */
  readonly secret: Uint8Array<ArrayBuffer>;
  readonly idempotency: 'key' | 'messageId';
  readonly now: () => Stamp;
  /** For deadlines. */
  readonly ticks: () => number;
  /** What went wrong inside: for the log, never for a peer. */
  readonly report: (what: string, cause: unknown) => void;
  readonly nextKey: () => TaskKey;
  /** `starting`: recovery is under way. `closed`: nothing is started any more. `off`: readers are sent away too. */
  phase: 'new' | 'starting' | 'open' | 'closed' | 'off';
}

/** Members of an entry beside its number and its event. */
export type EntryNotes = Omit<Entry, 'seq' | 'event'>;

/** The task, if it is in the caller's scope; held until `release`. Another's task is no task at all. */
export async function hold(core: Core, scope: Scope, id: TaskId): Promise<Live | undefined> {
  for (;;) {
    if (core.leaving.has(id)) return undefined;
    const live = core.lives.get(id);
    if (live !== undefined) {
      if (!isIn(scope, live.row.owner)) return undefined;
      live.holds += 1;
      return live;
    }
    const under = core.loading.get(id);
    if (under === undefined) return load(core, scope, id);
    // Another is loading it: a row read beside that one may be older than what becomes of it. Look again afterwards.
    await under.catch(() => {});
  }
}

function load(core: Core, scope: Scope, id: TaskId): Promise<Live | undefined> {
  const loading = (async () => {
    try {
      const row = await core.store.task(scope, id);
      if (row === undefined) return undefined;
      const live = newLive(row, false);
      live.holds = 1;
      core.lives.set(id, live);
      return live;
    } finally {
      core.loading.delete(id);
    }
  })();
  core.loading.set(id, loading);
  return loading;
}

export function release(core: Core, live: Live): void {
  live.holds -= 1;
  dropIfIdle(core, live);
}

export function dropIfIdle(core: Core, live: Live): void {
  if (live.holds > 0 || live.run !== undefined || live.isDirty || live.saving !== NOTHING) return;
  if (core.lives.get(live.row.id) === live) core.lives.delete(live.row.id);
  if (live.row.alias !== undefined) {
    const name = scopedKey(live.row.owner, live.row.agent, live.row.alias);
    if (core.aliases.get(name) === live) core.aliases.delete(name);
  }
}

/**
 * Appends an event: the state machine is asked, the entry numbered and handed to the writer. Nobody sees it before it is
 * durable. A terminal state is final: what comes after it is refused.
 */
export function append(core: Core, live: Live, event: TaskEvent, notes?: EntryNotes): Entry {
  const { row } = live;
  const state = event.statusUpdate?.status.state ?? event.task?.status.state ?? row.state;
  if (row.last > 0) checkTransition(row.state, state, event);
  const bytes = sizeOf(event, notes);
  if (!isTerminal(state)) checkRoom(core, live, bytes);
  const seq = (row.last + 1) as Entry['seq'];
  const entry: Entry = notes === undefined ? { seq, event } : { seq, event, ...notes };
  row.last = seq;
  row.bytes += bytes;
  const pending = gathering(live);
  pending.entries.push(entry);
  pending.bytes += bytes;
  if (event.artifactUpdate === undefined) {
    row.state = state;
    row.statusAt = timeOf(core, event);
    settle(live, seq);
  }
  core.writer.touch(live);
  return entry;
}

function checkTransition(from: TaskState, to: TaskState, event: TaskEvent): void {
  if (isTerminal(from)) throw new A2AError('INVALID_AGENT_RESPONSE', `the task is ${from} and takes no further event`);
  if (event.artifactUpdate === undefined && !mayFollow(from, to)) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `a task that is ${from} can't become ${to}`);
  }
}

/** The end of a task always has room. */
function checkRoom({ limits, writer }: Core, { row }: Live, bytes: number): void {
  if (row.last >= limits.taskEventsMax) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `the task has ${limits.taskEventsMax} events, which is the most`);
  }
  if (row.bytes + bytes > limits.taskBytesMax) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `the task would hold more than ${limits.taskBytesMax} bytes`);
  }
  if (writer.broken !== undefined) throw writer.broken;
}

/** Calls whose message has been dealt with are answered as the task stood then, whatever happens to it next. */
function settle(live: Live, seq: Entry['seq']): void {
  const isEnd = isTerminal(live.row.state);
  if (!isEnd && !isInterrupted(live.row.state)) return;
  for (const sender of live.senders) {
    if (sender.settledAt === undefined && (isEnd || !isQueued(live, sender.seq))) sender.settledAt = seq;
  }
}

function timeOf(core: Core, event: TaskEvent): number {
  const now = core.now();
  const timestamp = event.statusUpdate?.status.timestamp ?? event.task?.status.timestamp;
  return timestamp === undefined || timestamp === now.iso ? now.ms : Date.parse(timestamp);
}

/** What an entry weighs, near enough for a limit, at a cost that does not depend on the task. */
function sizeOf(event: TaskEvent, notes: EntryNotes | undefined): number {
  let size = 64;
  const parts = event.artifactUpdate?.artifact.parts ?? event.statusUpdate?.status.message?.parts ?? event.task?.history?.[0]?.parts;
  if (parts !== undefined) for (const part of parts) size += contentLength(part);
  if (notes?.input !== undefined) for (const part of notes.input.parts) size += contentLength(part);
  return size;
}

/** Characters of a part's content: bytes, near enough for a limit. */
export function contentLength(part: { text?: string; raw?: string; url?: string; data?: unknown }): number {
  return part.text?.length ?? part.raw?.length ?? part.url?.length ?? JSON.stringify(part.data ?? null).length;
}

export function ownerOf(ctx: CallContext, request: { readonly tenant?: string }): Owner {
  return { tenant: ctx.tenant ?? request.tenant ?? '', principal: ctx.principal.id };
}

export function isIn(scope: Scope, owner: Owner): boolean {
  return scope === 'any' || (scope.principal === owner.principal && scope.tenant === owner.tenant);
}

/** What a caller named, for maps. Lengths first: no two lists of strings run together to the same key. */
export function scopedKey(owner: Owner, agent: string, name: string): string {
  return `${owner.tenant.length}.${owner.principal.length}.${agent.length}.${owner.tenant}${owner.principal}${agent}${name}`;
}

export function agentOf(core: Core, name: string): Agent {
  const agent = core.agents.get(name);
  if (agent === undefined) throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`no agent ${name}`) });
  return agent;
}
