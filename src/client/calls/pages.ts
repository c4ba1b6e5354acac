import type { Task, TaskPage } from '#protocol';
import { ClientError } from '../errors/client-error.ts';

/** Every task of every page. Throws if the agent repeats a page token, because the list would never end. */
export async function* pagesOf(page: (token?: string) => Promise<TaskPage>): AsyncGenerator<Task, void> {
  const seen = new Set<string>();
  let token: string | undefined;
  do {
    const { tasks, nextPageToken } = await page(token);
    yield* tasks;
    if (seen.has(nextPageToken)) {
      throw new ClientError('garbage', 'the agent’s list of tasks never ends', { why: `it repeats the page token ${nextPageToken}` });
    }
    seen.add(nextPageToken);
    token = nextPageToken;
  } while (token !== '');
}
