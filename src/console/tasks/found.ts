import { useEffect, useState } from 'preact/hooks';
import type { AdminFoundTask } from '#protocol';
import { admin } from '../api.ts';
import type { Filters } from './list.ts';

/** So many at most. More words find fewer tasks. */
export const FOUND_MAX = 100;

/** What the node found in the texts of its tasks. */
export interface FoundTasks {
  readonly tasks: readonly AdminFoundTask[];
  /** There are more. */
  readonly isCut: boolean;
  readonly isOver: boolean;
}

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
    admin.search(query, leaving.signal).then(
      ({ tasks, nextPageToken }) => setFound({ tasks, isCut: nextPageToken !== '', isOver: true }),
      () => (leaving.signal.aborted ? undefined : setFound(NOTHING)),
    );
    return () => leaving.abort();
  }, [text, agent, status, principal, contextId, text === '' ? 0 : changes]);
  return found;
}
