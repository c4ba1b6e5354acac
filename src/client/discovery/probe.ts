import type { A2AService, CallContext, ErrorKind } from '#protocol';
import { isA2AError, LOCAL_PRINCIPAL, taskId } from '#protocol';
import { type ClientError, isClientError } from '../errors/client-error.ts';
import { explain } from '../errors/explain.ts';
import { wasNeverSent } from '../errors/network.ts';
import type { Way } from './endpoints.ts';
import { hasOperation } from './endpoints.ts';

/**
 * Finds out what an address speaks when no card tells. Only reads are tried, of a task that is nobody's: whoever answers that
 * it is not there has understood the question. Nothing is ever sent to see what happens. Over HTTP+JSON every server says 404 to
 * a path that it does not know, so that only JSON-RPC can be asked.
 */
export async function probe(ways: readonly Way[], open: (way: Way) => A2AService, signal: AbortSignal): Promise<readonly Way[]> {
  const outcomes: { readonly way: Way; readonly score: number }[] = [];
  for (const way of ways) {
    const score = await scoreOf(open(way), way, signal);
    if (score > 0) outcomes.push({ way, score });
  }
  return outcomes.toSorted((a, b) => b.score - a.score).map(({ way }) => way);
}

/** A dialect that has both reads and is answered to both is surer than one that has the first alone. */
async function scoreOf(service: A2AService, way: Way, signal: AbortSignal): Promise<number> {
  const ctx: CallContext = { principal: LOCAL_PRINCIPAL, dialect: way.dialect.id, extensions: [], signal };
  const lists = (): Promise<boolean> => understood(() => service.list({ pageSize: 1 }, ctx), way.url);
  if (!hasOperation(way, 'get')) return 0;
  const answered = await understood(() => service.get({ id: taskId(NOBODY) }, ctx), way.url);
  if (!answered) return 0;
  return hasOperation(way, 'list') && (await lists()) ? 2 : 1;
}

/** No agent has such a task; the name tells those who read their logs what it was. */
const NOBODY = '00000000-0000-4000-8000-000000000000';

const UNDERSTOOD: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['TASK_NOT_FOUND']);

async function understood(ask: () => Promise<unknown>, url: string): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (thrown) {
    if (isA2AError(thrown) && UNDERSTOOD.has(thrown.kind)) return true;
    const error = explain(thrown, url);
    if (isClientError(error) && endsProbing(error)) throw error;
    return false;
  }
}

/** What would be the same in any dialect. */
function endsProbing({ kind }: ClientError): boolean {
  return wasNeverSent(kind) || kind === 'unauthenticated' || kind === 'forbidden' || kind === 'aborted' || kind === 'timeout';
}
