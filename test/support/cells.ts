import type { CellEvents, ContextFilter, Store, StoreCells, TakenNames, TaskKey, Write } from '#engine';
import { CellsLostError } from '#engine';
import type { Agent, ContextId, Turn } from '#protocol';
import { contextId } from '#protocol';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { agent, echo, type World, world } from './engine.ts';

/** A process that has some of the cells of a shared store. */
export interface Member {
  readonly store: Store;
  readonly own: Set<number>;
  /** Agents that it serves, as it has told. */
  readonly agents: Set<string>;
  /** Commits of this process wait for this, and then find out whether their cells are still own. */
  pause: Promise<unknown> | undefined;
  /** Answers to commits that are written wait for this. */
  answers: Promise<unknown> | undefined;
  /** What the next commit fails with. It writes nothing. */
  failure: Error | undefined;
  /** Reading unfinished tasks waits for this. */
  reading: Promise<unknown> | undefined;
  readonly commits: (readonly Write[])[];
  isLeaving: boolean;
  idle(wanted?: number): Promise<readonly number[]>;
}

/** Several processes over one store in memory. The test moves the cells. */
export interface Cluster {
  readonly kept: Store;
  join(cells: readonly number[]): Member;
  /** The cell gets another owner, or none. */
  move(cell: number, to?: Member): void;
  /** The same, but the old owner hears of it only when it writes. */
  steal(cell: number, to: Member): void;
  cellOf(place: ContextFilter): number;
  /** Agents that nobody has had for long. */
  readonly abandoned: Set<string>;
}

const COUNT = 8;
const KEYS = 100_000;

interface Joined extends Member {
  events: CellEvents | undefined;
}

export function cluster(): Cluster {
  const kept = memoryStore();
  const members: Joined[] = [];
  const abandoned = new Set<string>();
  /** Who may write, whatever the members think. */
  const owners = new Map<number, Joined>();
  const places = new Map<TaskKey, ContextFilter>();
  let keys = 0;
  const ownerOf = (cell: number): Joined | undefined => members.find(({ own }) => own.has(cell));
  const leave = (cell: number): void => {
    owners.delete(cell);
    const before = ownerOf(cell);
    before?.own.delete(cell);
    before?.events?.lost([cell]);
  };
  const take = (cell: number, to: Joined): void => {
    owners.set(cell, to);
    to.own.add(cell);
    to.events?.gained([cell]);
  };
  const cellsOf = (batch: readonly Write[]): ReadonlySet<number> =>
    new Set(
      batch.flatMap((write) => {
        const place = placeIn(write, places);
        return place === undefined ? [] : [cellOf(place)];
      }),
    );
  const filtered = (cells: readonly number[] | undefined) => (row: ContextFilter) => cells === undefined || cells.includes(cellOf(row));

  const join = (first: readonly number[]): Member => {
    const member: Joined = {
      own: new Set(),
      agents: new Set(),
      commits: [],
      pause: undefined,
      answers: undefined,
      reading: undefined,
      failure: undefined,
      isLeaving: false,
      events: undefined,
      idle: async (wanted = 0) => (await member.events?.idle(wanted)) ?? [],
      store: {
        ...kept,
        commit: () => {
          throw new Error('a store with cells is written to by claim');
        },
        claim: async (batch) => {
          await member.pause;
          const { failure } = member;
          member.failure = undefined;
          if (failure !== undefined) throw failure;
          const lost = [...cellsOf(batch)].filter((cell) => owners.get(cell) !== member);
          if (lost.length > 0) {
            for (const cell of lost) member.own.delete(cell);
            member.events?.lost(lost);
            throw new CellsLostError(lost);
          }
          member.commits.push(batch);
          for (const write of batch) if (write.kind === 'task') places.set(write.row.key, write.row);
          const taken = await claim(kept, batch);
          await member.answers;
          return taken;
        },
        reserveKeys: () => {
          keys += KEYS;
          return { first: keys - KEYS + 1, last: keys };
        },
        // As slow as a database: the answer never comes at once.
        task: async (scope, id) => kept.task(scope, id),
        byAlias: async (owner, agent, alias) => kept.byAlias(owner, agent, alias),
        send: async (name) => kept.send(name),
        unfinished: async (cells) => {
          await member.reading;
          return (await kept.unfinished()).filter(filtered(cells));
        },
        quiet: async (phase, { cells, before, limit }) =>
          (await kept.quiet(phase, { before, limit: 1000 })).filter(filtered(cells)).slice(0, limit),
        outbox: async ({ cells, ...query }) => (await kept.outbox(query)).filter(({ task }) => filtered(cells)(task)),
        finished: async (cells) => (await kept.quiet('finished', { before: Number.MAX_VALUE, limit: 1000 })).filter(filtered(cells)).length,
        cells: cellsFor(() => member),
      },
    };
    members.push(member);
    for (const cell of first) take(cell, member);
    return member;
  };
  const cellsFor = (self: () => Joined): StoreCells => ({
    count: COUNT,
    cellOf,
    idIn: (cell, id) => `${id}~${cell}`,
    isOwn: (cell) => self().own.has(cell),
    own: () => [...self().own],
    pick: () => [...self().own][0],
    follow: (events) => {
      const member = self();
      member.events = events;
      if (member.own.size > 0) events.gained([...member.own]);
    },
    release: async (cells) => {
      for (const cell of cells) leave(cell);
    },
    give: async (cell, to) => {
      const member = members[to];
      if (member === undefined || !(await self().idle(COUNT)).includes(cell)) return false;
      leave(cell);
      take(cell, member);
      return true;
    },
    stopTaking: () => {
      self().isLeaving = true;
    },
    serve: (agents) => {
      for (const agent of agents) self().agents.add(agent);
    },
    abandoned: async (agents) => agents.filter((agent) => abandoned.has(agent)),
  });
  return {
    kept,
    abandoned,
    cellOf,
    join,
    move: (cell, to) => {
      leave(cell);
      if (to !== undefined) take(cell, to as Joined);
    },
    steal: (cell, to) => take(cell, to as Joined),
  };
}

function cellOf({ contextId, agent }: ContextFilter): number {
  const named = /~(\d)$/.exec(contextId)?.[1];
  if (named !== undefined) return Number(named);
  return [...`${agent}${contextId}`].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7) % COUNT;
}

function placeIn(write: Write, places: ReadonlyMap<TaskKey, ContextFilter>): ContextFilter | undefined {
  switch (write.kind) {
    case 'task':
      return write.row;
    case 'outbox':
      return places.get(write.row.task);
    case 'push':
    case 'unpush':
    case 'forget':
      return places.get(write.task);
    default:
      return undefined;
  }
}

/** The first process to use a name has it. */
async function claim(kept: Store, batch: readonly Write[]): Promise<TakenNames> {
  const taken = new Set<TaskKey>();
  for (const write of batch) {
    if (write.kind === 'task' && write.isNew && write.row.alias !== undefined) {
      const holder = await kept.byAlias(write.row.owner, write.row.agent, write.row.alias);
      if (holder !== undefined && holder.key !== write.follows) taken.add(write.row.key);
    }
    if (write.kind === 'send' && write.record.task !== undefined && write.was === undefined) {
      const known = await kept.send(write.record);
      const isOther = known !== undefined && known.task?.key !== write.record.task.key;
      if (isOther && !known.delivered && write.record.task.seq === 1) taken.add(write.record.task.key);
    }
  }
  const isTaken = (write: Write): boolean => {
    if (write.kind === 'task') return taken.has(write.row.key);
    if (write.kind === 'send') return write.record.task !== undefined && taken.has(write.record.task.key);
    if (write.kind === 'push') return taken.has(write.task);
    return write.kind === 'outbox' && taken.has(write.row.task);
  };
  await kept.commit(batch.filter((write) => !isTaken(write)));
  return { tasks: taken, sends: new Set() };
}

/** What a call fails with that another process has to deal with. */
export const elsewhere = (cell: number): { readonly kind: string; readonly cell: number } => ({ kind: 'UNAVAILABLE', cell });

interface PairMember extends World {
  readonly member: Member;
}

/** Two processes: the first has the cells 0 to 3, the second the cells 4 to 7. */
export async function pair(
  run: Agent = echo,
  options: Parameters<typeof world>[1] = {},
): Promise<{ readonly shared: Cluster; readonly one: PairMember; readonly two: PairMember }> {
  const shared = cluster();
  const [one, two] = [shared.join([0, 1, 2, 3]), shared.join([4, 5, 6, 7])];
  const start = (member: Member): Promise<World> => world(run, { ...options, store: member.store });
  return { shared, one: { ...(await start(one)), member: one }, two: { ...(await start(two)), member: two } };
}

/** A context id that we did not make, in this cell. */
export function contextIn(cell: number, shared: Cluster): ContextId {
  for (let n = 0; ; n += 1) {
    const id = contextId(`given-${n}`);
    if (shared.cellOf({ owner: { tenant: '', principal: 'alice' }, agent: 'agent', contextId: id }) === cell) return id;
  }
}

/** The first attempt of a turn works until it is stopped. */
export const slow = (seen: Turn[], more: Partial<Agent> = {}): Agent =>
  agent(async function* (turn) {
    seen.push(turn);
    yield { kind: 'text', text: `try ${turn.attempt}` };
    if (turn.attempt === 1) await new Promise((_, reject) => turn.signal.addEventListener('abort', () => reject(turn.signal.reason)));
  }, more);
