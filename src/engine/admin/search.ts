import type { AdminSearch, AdminSearchPage, AdminSearchRequest } from '#protocol';
import { A2AError } from '#protocol';
import type { ListFilter, Store, TaskRow } from '../ports.ts';
import { taskKey } from '../ports.ts';
import type { TokenKey } from '../read/page-tokens.ts';
import { openToken, sealToken } from '../read/page-tokens.ts';
import { snippetOf } from '../search/snippet.ts';
import { textOfTask } from '../search/task-text.ts';
import type { SearchTerm } from '../search/terms.ts';
import { searchTerms } from '../search/terms.ts';
import type { TaskTable } from '../tasks/table.ts';
import { adminTask } from './rows.ts';

/** What the search needs of the engine. */
export interface SearchParts extends TokenKey {
  readonly store: Pick<Store, 'search' | 'entries'>;
  readonly tasks: TaskTable;
}

const PAGE_DEFAULT = 20;
const PAGE_MAX = 100;

/** Finds tasks of the scope. A page token is a key with a MAC over it, the filter and the words. */
export function createAdminSearch(parts: SearchParts, filterOf: (request: AdminSearchRequest) => ListFilter): AdminSearch {
  return {
    search: async (request) => {
      const { text, pageSize = PAGE_DEFAULT, pageToken = '' } = request;
      const { search } = parts.store;
      if (search === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'this node keeps no search index');
      if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_MAX)
        throw new A2AError('INVALID_PARAMS', `pageSize must be from 1 to ${PAGE_MAX}`, { field: 'pageSize' });
      const terms = searchTerms(text);
      const filter = filterOf(request);
      const scope = { search: terms, ...filter };
      const [before] = pageToken === '' ? [] : await openToken(parts, pageToken, scope);
      const rows = await search.find({
        ...filter,
        terms,
        limit: pageSize + 1,
        ...(before === undefined ? {} : { before: taskKey(before) }),
      });
      const shown = rows.slice(0, pageSize);
      const last = shown.at(-1);
      const nextPageToken = last === undefined || rows.length <= pageSize ? '' : await sealToken(parts, [last.key], scope);
      return { tasks: await withSnippets(parts, shown, terms), nextPageToken };
    },
  };
}

async function withSnippets(
  { store, tasks }: SearchParts,
  rows: readonly TaskRow[],
  terms: readonly SearchTerm[],
): Promise<AdminSearchPage['tasks']> {
  const found = rows.map(async (row) => {
    const text = await textOfTask(row.last, (range) => store.entries(row.key, range)).catch(() => '');
    return { ...adminTask(tasks, row), snippet: snippetOf(text, terms) };
  });
  return await Promise.all(found);
}
