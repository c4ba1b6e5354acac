import type { LogEntry, SearchQuery, SearchTerm, TaskKey, TaskRow, TaskSearch } from '../../ports.ts';
import { isListed } from '../../search/is-listed.ts';
import { textOfTaskNow } from '../../search/task-text.ts';
import { plainWords } from '../../search/words.ts';

interface SearchedTask {
  readonly row: TaskRow;
  readonly entries: readonly LogEntry[];
}

interface KnownWords {
  readonly last: number;
  readonly words: string;
}

/** Other work may run after so many tasks. */
const PORTION = 200;

/** Reads through all tasks. Their words are kept from the first search on. */
export function memorySearch(tasks: ReadonlyMap<TaskKey, SearchedTask>): TaskSearch {
  const known = new WeakMap<readonly LogEntry[], KnownWords>();
  const wordsOf = ({ row, entries }: SearchedTask): string => {
    const kept = known.get(entries);
    if (kept?.last === row.last) return kept.words;
    const words = ` ${plainWords(textOfTaskNow(row.last, ({ after, limit }) => entries.slice(after, after + limit)))} `;
    known.set(entries, { last: row.last, words });
    return words;
  };
  return {
    find: async (query: SearchQuery) => {
      const keys = [...tasks.keys()].filter((key) => query.before === undefined || key < query.before).sort((left, right) => right - left);
      const found: TaskRow[] = [];
      for (const [at, key] of keys.entries()) {
        if (at % PORTION === PORTION - 1) await new Promise((resolve) => setTimeout(resolve, 0));
        const task = tasks.get(key);
        if (task === undefined || !isListed(task.row, query)) continue;
        const words = wordsOf(task);
        if (query.terms.every((term) => words.includes(wanted(term)))) found.push(task.row);
        if (found.length >= query.limit) break;
      }
      return found;
    },
    settled: async () => {},
  };
}

/** Words stand between spaces. */
function wanted({ words, isPrefix }: SearchTerm): string {
  return ` ${words.join(' ')}${isPrefix ? '' : ' '}`;
}
