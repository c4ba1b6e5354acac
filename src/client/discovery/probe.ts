import type { A2AService, CallContext, ErrorKind, Operation, Principal } from '#protocol';
import { isA2AError, taskId } from '#protocol';
import type { Endpoint } from './endpoint.ts';

/** What probing takes of the rest of the client, which this part must not import (see on-demand.ts). */
export interface ProbeTools {
  /** The service at an endpoint. */
  open(endpoint: Endpoint): A2AService;
  /** Whether the dialect of an endpoint has an operation. */
  has(endpoint: Endpoint, operation: Operation): boolean;
  readonly principal: Principal;
  /** The error for a failure that every dialect would share. */
  shared(thrown: unknown, url: string): Error | undefined;
}

/**
 * Finds the dialects of an address without a card. Reads a task that does not exist: an agent that answers "task not found" understands
 * the dialect. Never sends a message. Only JSON-RPC is probed, because over HTTP+JSON every server answers 404 to an unknown path.
 */
export async function probe(endpoints: readonly Endpoint[], tools: ProbeTools, signal: AbortSignal): Promise<readonly Endpoint[]> {
  const outcomes: { readonly endpoint: Endpoint; readonly score: number }[] = [];
  for (const endpoint of endpoints) {
    const score = await probeScore(endpoint, tools, signal);
    if (score > 0) outcomes.push({ endpoint, score });
  }
  return outcomes.toSorted((a, b) => b.score - a.score).map(({ endpoint }) => endpoint);
}

/** A dialect in which both `get` and `list` work is more certain than one in which only `get` does. */
async function probeScore(endpoint: Endpoint, tools: ProbeTools, signal: AbortSignal): Promise<number> {
  if (!tools.has(endpoint, 'get')) return 0;
  const service = tools.open(endpoint);
  const ctx: CallContext = { principal: tools.principal, dialect: endpoint.dialect.id, extensions: [], signal };
  const answers = (ask: () => Promise<unknown>): Promise<boolean> => understood(ask, (thrown) => tools.shared(thrown, endpoint.url));
  if (!(await answers(() => service.get({ id: taskId(UNKNOWN_TASK) }, ctx)))) return 0;
  return tools.has(endpoint, 'list') && (await answers(() => service.list({ pageSize: 1 }, ctx))) ? 2 : 1;
}

/** A task id that no agent has. */
const UNKNOWN_TASK = '00000000-0000-4000-8000-000000000000';

const UNDERSTOOD: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['TASK_NOT_FOUND']);

/** Whether the agent understood the request. Throws for failures that every dialect would share. */
async function understood(ask: () => Promise<unknown>, shared: (thrown: unknown) => Error | undefined): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (thrown) {
    if (isA2AError(thrown) && UNDERSTOOD.has(thrown.kind)) return true;
    const error = shared(thrown);
    if (error !== undefined) throw error;
    return false;
  }
}
