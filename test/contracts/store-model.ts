import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ListFilter, Owner, Store, TaskKey, TaskRow, Write } from '#engine';
import type { TaskState } from '#protocol';
import { contextId, externalId, isInterrupted, isTerminal } from '#protocol';
import { ALICE, BOB, entriesOf, rowOf, seqOf } from './rows.ts';

/** Compares a store with a plain list: after any sequence of changes, every query must return the same. */
const OWNERS: readonly Owner[] = [ALICE, BOB, { tenant: 'x', principal: 'alice' }];
const AGENTS = ['echo', 'other'];
const CONTEXTS = ['c', 'd'].map(contextId);
const ALIASES = [undefined, externalId('thread')];
const STATES: readonly TaskState[] = [
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
];
const TIME = fc.integer({ min: 0, max: 6 });

const CHANGE = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('new' as const),
      owner: fc.constantFrom(...OWNERS),
      agent: fc.constantFrom(...AGENTS),
      context: fc.constantFrom(...CONTEXTS),
      alias: fc.constantFrom(...ALIASES),
      state: fc.constantFrom(...STATES),
      at: TIME,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), which: fc.nat(), state: fc.constantFrom(...STATES), at: TIME }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), which: fc.nat() }) },
);

export function storeModel(open: () => Store, runs: number): void {
  it('answers every query as a plain list does', { timeout: 180_000 }, async () => {
    let lastKey = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(CHANGE, { maxLength: 60 }),
        fc.array(TIME, { minLength: 3, maxLength: 3 }),
        async (changes, [from = 0, at = 0, key = 0]) => {
          const store = open();
          const model = new Map<TaskKey, TaskRow>();
          for (const change of changes) {
            if (change.kind === 'new') lastKey += 1;
            const write = writeOf(change, [...model.values()], lastKey);
            if (write === undefined) continue;
            if (write.kind === 'task') model.set(write.row.key, write.row);
            else model.delete(write.task);
            await store.commit([write]);
          }
          await compare(store, [...model.values()], { from, at, key: lastKey - key });
          for (const row of model.values()) await store.commit([{ kind: 'forget', task: row.key }]);
          expect(await store.count({ owner: 'any' })).toBe(0);
        },
      ),
      { numRuns: runs },
    );
  });
}

type Change = typeof CHANGE extends fc.Arbitrary<infer T> ? T : never;

function writeOf(change: Change, known: readonly TaskRow[], key: number): Extract<Write, { kind: 'task' | 'forget' }> | undefined {
  if (change.kind === 'new') {
    const { owner, agent, context, alias, state, at } = change;
    const row = rowOf(key, {
      owner,
      agent,
      contextId: context,
      state,
      statusAt: at,
      last: seqOf(1),
      ...(alias === undefined ? {} : { alias }),
    });
    return { kind: 'task', row, isNew: true, entries: entriesOf(1, 1) };
  }
  const before = known[change.which % Math.max(known.length, 1)];
  if (before === undefined) return undefined;
  if (change.kind === 'forget') return { kind: 'forget', task: before.key };
  const last = seqOf(before.last + 1);
  return { kind: 'task', row: { ...before, state: change.state, statusAt: change.at, last }, isNew: false, entries: entriesOf(last, last) };
}

interface Probe {
  readonly from: number;
  readonly at: number;
  readonly key: number;
}

async function compare(store: Store, rows: readonly TaskRow[], { from, at, key }: Probe): Promise<void> {
  const newest = rows.toSorted((left, right) => right.statusAt - left.statusAt || right.key - left.key);
  const after = { statusAt: at, key: key as TaskKey };
  for (const filter of filters(from)) {
    const fitting = newest.filter((row) => fits(row, filter));
    const rest = fitting.filter((row) => row.statusAt < at || (row.statusAt === at && row.key < key));
    expect(await store.list({ ...filter, limit: 5 })).toEqual(fitting.slice(0, 5));
    expect(await store.list({ ...filter, after, limit: 99 })).toEqual(rest);
    expect(await store.count(filter)).toBe(fitting.length);
  }
  for (const owner of OWNERS) {
    for (const agent of AGENTS) {
      const own = rows.filter((row) => row.owner === owner && row.agent === agent);
      const named = own.filter((row) => row.alias !== undefined).toSorted((left, right) => right.key - left.key);
      expect(await store.byAlias(owner, agent, externalId('thread'))).toEqual(named[0]);
      for (const context of CONTEXTS) {
        const waiting = own.filter((row) => row.contextId === context && isInterrupted(row.state));
        expect(byKey(await store.waiting({ owner, agent, contextId: context }, 99))).toEqual(byKey(waiting));
      }
    }
  }
  expect(byKey(await store.unfinished())).toEqual(byKey(rows.filter((row) => !isTerminal(row.state))));
  expect(await store.finished()).toBe(rows.filter((row) => isTerminal(row.state)).length);
  const oldest = newest.toReversed();
  expect(await store.quiet('finished', { before: at, limit: 3 })).toEqual(
    oldest.filter((row) => isTerminal(row.state) && row.statusAt < at).slice(0, 3),
  );
  expect(await store.quiet('waiting', { before: at, limit: 3 })).toEqual(
    oldest.filter((row) => isInterrupted(row.state) && row.statusAt < at).slice(0, 3),
  );
}

/** Every combination of the members of a filter. */
function filters(from: number): readonly ListFilter[] {
  const choices: readonly (readonly [keyof ListFilter, readonly unknown[]])[] = [
    ['owner', [...OWNERS, 'any']],
    ['agent', [...AGENTS, undefined]],
    ['contextId', [...CONTEXTS, undefined]],
    ['state', [STATES[1], STATES[3], undefined]],
    ['statusFrom', [from, undefined]],
  ];
  return choices.reduce<readonly object[]>(
    (made, [name, values]) =>
      made.flatMap((filter) => values.map((value) => (value === undefined ? filter : { ...filter, [name]: value }))),
    [{}],
  ) as readonly ListFilter[];
}

function fits(row: TaskRow, filter: ListFilter): boolean {
  return (
    (filter.owner === 'any' || filter.owner === row.owner) &&
    (filter.agent ?? row.agent) === row.agent &&
    (filter.contextId ?? row.contextId) === row.contextId &&
    (filter.state ?? row.state) === row.state &&
    row.statusAt >= (filter.statusFrom ?? 0)
  );
}

function byKey(rows: readonly TaskRow[]): readonly TaskRow[] {
  return rows.toSorted((left, right) => left.key - right.key);
}
