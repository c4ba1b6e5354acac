import type { Agent, Clock, DialectId, Ids, Message, Seq, TaskEvent, TaskId, Traits } from '#protocol';
import { A2AError, isTerminal, mayFollow } from '#protocol';
import type { Contexts } from './contexts.ts';
import type { EngineLimits } from './limits.ts';
import type { Live } from './live.ts';
import { newLive, nextSeq, stateAfter } from './live.ts';
import type { Entry, Owner, Store, TaskKey, TaskRow } from './ports.ts';
import type { Slots } from './slots.ts';
import type { Writer } from './writer.ts';

/** What every part of the engine works on. There is one to an engine. */
export interface Core {
  readonly store: Store;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: EngineLimits;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly traitsOf: (dialect: DialectId) => Traits;
  readonly slots: Slots;
  readonly contexts: Contexts;
  /** Tasks that something is happening to, by id. Everything else is in the store. */
  readonly lives: Map<TaskId, Live>;
  /** Signs page tokens: another engine over the same store needs the same. */
  readonly secret: Uint8Array<ArrayBuffer>;
  readonly idempotency: 'key' | 'messageId';
  /** What went wrong inside: for the log, never for a peer. */
  readonly report: (what: string, cause: unknown) => void;
  nextKey(): TaskKey;
}

/** The task, if this owner has it; held until `release`. Another's task is no task at all. */
export async function hold(core: Core, owner: Owner, id: TaskId): Promise<Live | undefined> {
  const live = core.lives.get(id);
  if (live !== undefined) {
    if (!isSameOwner(live.row.owner, owner)) return undefined;
    live.holds += 1;
    return live;
  }
  const row = await core.store.task(owner, id);
  return row === undefined ? undefined : holdRow(core, row);
}

export function holdRow(core: Core, row: TaskRow): Live {
  const live = core.lives.get(row.id) ?? newLive(row, false);
  core.lives.set(row.id, live);
  live.holds += 1;
  return live;
}

export function release(core: Core, live: Live): void {
  live.holds -= 1;
  dropIfIdle(core, live);
}

export function dropIfIdle(core: Core, live: Live): void {
  if (live.holds === 0 && live.run === undefined && live.pending.length === 0 && !live.isNew) core.lives.delete(live.row.id);
}

/**
 * Appends an event: the state machine is asked, the entry numbered and handed to the writer. Nobody sees it before it is
 * durable. A terminal state is final: what comes after it is refused.
 */
export function append(core: Core, live: Live, event: TaskEvent, input?: Message): Seq {
  const before = live.row.state;
  const state = stateAfter(event, before);
  if (live.row.last > 0) {
    if (isTerminal(before)) throw new A2AError('INVALID_AGENT_RESPONSE', `the task is ${before} and takes no further event`);
    if (event.statusUpdate !== undefined && !mayFollow(before, state)) {
      throw new A2AError('INVALID_AGENT_RESPONSE', `a task that is ${before} can't become ${state}`);
    }
  }
  if (live.row.last >= core.limits.taskEventsMax && !isTerminal(state)) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `the task has ${core.limits.taskEventsMax} events, which is the most`);
  }
  const entry: Entry = input === undefined ? { seq: nextSeq(live), event } : { seq: nextSeq(live), event, input };
  live.row = {
    ...live.row,
    state,
    last: entry.seq,
    statusAt: event.artifactUpdate === undefined ? core.clock.now().getTime() : live.row.statusAt,
    bytes: live.row.bytes + sizeOf(event),
  };
  if (live.row.bytes > core.limits.taskBytesMax && !isTerminal(state)) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `the task holds more than ${core.limits.taskBytesMax} bytes`);
  }
  live.pending.push(entry);
  core.writer.touch(live);
  return entry.seq;
}

/** What an artifact's content weighs, near enough for a limit, at a cost that does not depend on the task. */
function sizeOf(event: TaskEvent): number {
  let size = 64;
  for (const part of event.artifactUpdate?.artifact.parts ?? []) {
    size += part.text?.length ?? part.raw?.length ?? part.url?.length ?? JSON.stringify(part.data).length;
  }
  return size;
}

export function isSameOwner(left: Owner, right: Owner): boolean {
  return left.principal === right.principal && left.tenant === right.tenant;
}

export function agentOf(core: Core, name: string): Agent {
  const agent = core.agents.get(name);
  if (agent === undefined) throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`no agent ${name}`) });
  return agent;
}
