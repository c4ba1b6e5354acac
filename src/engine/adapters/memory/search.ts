import type { Seq } from '#protocol';
import type { SearchQuery, SearchTerm, TaskKey, TaskRow, TaskSearch } from '../../ports.ts';
import { isListed } from '../../search/is-listed.ts';
import { textOfTaskNow } from '../../search/task-text.ts';
import { plainWords } from '../../search/words.ts';
import type { MemoryTask } from './memory-task.ts';
import { entriesOf } from './memory-task.ts';

interface KnownWords {
  readonly last: number;
  readonly words: string;
}

/** Other work may run after so many tasks. */
const PORTION = 200;

/** Reads through all tasks. Their words are kept from the first search on. */
export function memorySearch(tasks: ReadonlyMap<TaskKey, MemoryTask>): TaskSearch {
  const known = new WeakMap<MemoryTask, KnownWords>();
  const wordsOf = (task: MemoryTask, last: Seq): string => {
    const kept = known.get(task);
    if (kept?.last === last) return kept.words;
    const words = ` ${plainWords(textOfTaskNow(last, (range) => entriesOf(task, range)))} `;
    known.set(task, { last, words });
    return words;
  };
  return {
    find: async (query: SearchQuery) => {
      const keys = [...tasks.keys()].filter((key) => query.before === undefined || key < query.before).sort((left, right) => right - left);
      const found: TaskRow[] = [];
      for (const [at, key] of keys.entries()) {
        if (at % PORTION === PORTION - 1) await new Promise((resolve) => setTimeout(resolve, 0));
        const task = tasks.get(key);
        const row = task?.mark.row;
        if (task === undefined || row === undefined || !isListed(row, query)) continue;
        const words = wordsOf(task, row.last);
        if (query.terms.every((term) => words.includes(wanted(term)))) found.push(row);
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
