/** Columns of a list of rows, with their types. Each one is an array parameter. */
export type Columns = Readonly<Record<string, 'bigint' | 'int' | 'smallint' | 'text' | 'boolean'>>;

const CHANGED = {
  key: 'bigint',
  state: 'smallint',
  status_at: 'bigint',
  last: 'int',
  turn: 'int',
  attempt: 'int',
  bytes: 'bigint',
} as const;
const SEGMENT = { words: 'text', chunks: 'text' } as const;
const NAMED = { realm: 'int', name: 'text' } as const;

/** New tasks, changed tasks, names of sends, and delivered sends. */
export type List = 'made' | 'changed' | 'sends' | 'marks';

/** The lists of a commit whose names are new, in the order of their parameters. */
export const FRESH_LISTS: Readonly<Record<List, Columns>> = {
  made: { ...CHANGED, ...{ cell: 'int', id: 'text', realm: 'int', context: 'text', dialect: 'text' }, ...SEGMENT },
  changed: { ...CHANGED, was: 'int', ...SEGMENT },
  sends: {
    ...NAMED,
    ...{ token: 'text', task: 'bigint', seq: 'int', fingerprint: 'text', at: 'bigint', delivered: 'boolean', answer: 'text' },
  },
  marks: NAMED,
};

/** The lists of any commit. */
export const LISTS: Readonly<Record<List, Columns>> = {
  ...FRESH_LISTS,
  made: { ...FRESH_LISTS.made, ...{ alias: 'text', named: 'boolean', namer: 'bigint', follows: 'bigint' } },
  sends: { ...FRESH_LISTS.sends, ...{ was: 'bigint', free: 'boolean' } },
};

export const LIST_NAMES: readonly List[] = ['made', 'changed', 'sends', 'marks'];

/** Parameters 1, 2 and 3 are the writer, the cells and the realms of new tasks and sends. */
const FIRST_LIST = 4;

/** The parameters of some lists, which follow one another. */
export interface ListParameters {
  /** A list as rows. Arrays are cheaper for the server than JSON, which it reads twice. */
  rows(list: List, alias: string): string;
  /** The number of the first parameter of a list. */
  first(list: List): number;
  /** The number of the first parameter after the lists. */
  readonly end: number;
}

/** Numbers the parameters of those lists that a statement has. */
export function numberLists(lists: Readonly<Record<List, Columns>>, those: readonly List[] = LIST_NAMES): ListParameters {
  const firsts = new Map<List, number>();
  let end = FIRST_LIST;
  for (const name of those) {
    firsts.set(name, end);
    end += Object.keys(lists[name]).length;
  }
  const first = (list: List): number => firsts.get(list) ?? end;
  return {
    first,
    end,
    rows: (list, alias) => {
      const columns = Object.entries(lists[list]);
      const arrays = columns.map(([, type], at) => `$${first(list) + at}::${type}[]`);
      return `unnest(${arrays.join(', ')}) AS ${alias}(${columns.map(([name]) => name).join(', ')})`;
    },
  };
}
