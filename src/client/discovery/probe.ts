import type { A2AService, CallContext, ErrorKind } from '#protocol';
import { isA2AError, LOCAL_PRINCIPAL, taskId } from '#protocol';
import { type ClientError, isClientError } from '../errors/client-error.ts';
import { explain } from '../errors/explain.ts';
import { wasNeverSent } from '../errors/network.ts';
import type { Endpoint } from './endpoint.ts';
import { hasOperation } from './endpoints.ts';

/**
 * Finds the dialects of an address without a card. Reads a task that does not exist: an agent that answers "task not found" understands
 * the dialect. Never sends a message. Only JSON-RPC is probed, because over HTTP+JSON every server answers 404 to an unknown path.
 */
export async function probe(
  endpoints: readonly Endpoint[],
  open: (endpoint: Endpoint) => A2AService,
  signal: AbortSignal,
): Promise<readonly Endpoint[]> {
  const outcomes: { readonly endpoint: Endpoint; readonly score: number }[] = [];
  for (const endpoint of endpoints) {
    const score = await probeScore(open(endpoint), endpoint, signal);
    if (score > 0) outcomes.push({ endpoint, score });
  }
  return outcomes.toSorted((a, b) => b.score - a.score).map(({ endpoint }) => endpoint);
}

/** A dialect in which both `get` and `list` work is more certain than one in which only `get` does. */
async function probeScore(service: A2AService, endpoint: Endpoint, signal: AbortSignal): Promise<number> {
  const ctx: CallContext = { principal: LOCAL_PRINCIPAL, dialect: endpoint.dialect.id, extensions: [], signal };
  const lists = (): Promise<boolean> => understood(() => service.list({ pageSize: 1 }, ctx), endpoint.url);
  if (!hasOperation(endpoint, 'get')) return 0;
  const answered = await understood(() => service.get({ id: taskId(UNKNOWN_TASK) }, ctx), endpoint.url);
  if (!answered) return 0;
  return hasOperation(endpoint, 'list') && (await lists()) ? 2 : 1;
}

/** A task id that no agent has. */
const UNKNOWN_TASK = '00000000-0000-4000-8000-000000000000';

const UNDERSTOOD: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['TASK_NOT_FOUND']);

/** Whether the agent understood the request. Throws for failures that every dialect would share. */
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

/** Failures that every dialect would share. */
function endsProbing({ kind }: ClientError): boolean {
  return wasNeverSent(kind) || kind === 'unauthenticated' || kind === 'forbidden' || kind === 'aborted' || kind === 'timeout';
}
