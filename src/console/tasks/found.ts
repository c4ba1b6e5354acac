import { useEffect, useState } from 'preact/hooks';
import type { AdminFoundTask, AdminTask } from '#protocol';
import { admin } from '../api.ts';
import type { Filters } from './list.ts';

/** So many at most. More words find fewer tasks. */
export const FOUND_MAX = 100;

/** What the node found in the texts of its tasks. */
export interface FoundTasks {
  readonly tasks: readonly (AdminTask & Partial<Pick<AdminFoundTask, 'snippet'>>)[];
  /** There are more. */
  readonly isCut: boolean;
  readonly isOver: boolean;
}

/** The text may be the id of a task. */
const ID = /^(?=.*\d)[\w-]{8,128}$/;

const NOTHING: FoundTasks = { tasks: [], isCut: false, isOver: true };

/**
 * Searches the texts of tasks, in the index of the node. A node without an index, and a text without a word, find nothing: the rows that are
 * loaded are filtered in any case.
 */
export function useFound({ text, agent, status, principal, contextId }: Filters, changes: number): FoundTasks {
  const [found, setFound] = useState<FoundTasks>(NOTHING);
  useEffect(() => {
    if (text.trim() === '') return setFound(NOTHING);
    const leaving = new AbortController();
    setFound((before) => ({ ...before, isOver: false }));
    const query = new URLSearchParams({ text, pageSize: String(FOUND_MAX) });
    for (const [name, value] of Object.entries({ agent, status, principal, contextId })) if (value !== '') query.set(name, value);
    const look = async (): Promise<FoundTasks> => {
      const [words, named] = await Promise.all([
        admin.search(query, leaving.signal).catch(() => ({ tasks: [], nextPageToken: '' })),
        agent + status + principal + contextId === '' && ID.test(text.trim()) ? admin.task(text.trim()).catch(() => undefined) : undefined,
      ]);
      const others = words.tasks.filter(({ id }) => id !== named?.id);
      return { tasks: named === undefined ? others : [named, ...others], isCut: words.nextPageToken !== '', isOver: true };
    };
    void look().then((now) => leaving.signal.aborted || setFound(now));
    return () => leaving.abort();
  }, [text, agent, status, principal, contextId, text === '' ? 0 : changes]);
  return found;
}
