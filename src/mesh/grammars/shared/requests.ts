import { ElsewhereError } from '#engine';
import { A2AError, isA2AError } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import type { MeshAgent, MeshContext, Stop } from '../grammar.ts';

/** An agent while it is served. */
export interface Serving {
  readonly agent: MeshAgent;
  readonly mesh: MeshContext;
  /** Aborts when the agent is no longer served. */
  readonly signal: AbortSignal;
}

/** What differs between grammars when a request arrives. */
export interface RequestHandling<Request> {
  /** Undefined: there is no topic for a response, or none that this process may publish to. */
  read(message: ReceivedMessage): Request | undefined;
  respond(request: Request): Promise<void>;
  /** Publishes an error. */
  refuse(error: A2AError, request: Request): Promise<void>;
  /** Errors that get no response. */
  isSilent?(error: A2AError): boolean;
}

/**
 * Handles one request. Resolves when the broker may be acknowledged: the task is durable, or a response
 * is published, or none is possible.
 */
export async function handleRequest<Request>(
  message: ReceivedMessage,
  { mesh, signal }: Serving,
  handling: RequestHandling<Request>,
): Promise<void> {
  // Requests are never retained. A retained one was put there by an attacker, for every replica that ever subscribes (docs/faults.md, B8).
  if (message.isRetained) {
    mesh.counts.ignored += 1;
    return;
  }
  const request = handling.read(message);
  if (request === undefined) {
    mesh.counts.dropped += 1;
    return;
  }
  try {
    await handling.respond(request);
  } catch (thrown) {
    const error = A2AError.from(thrown);
    // Not accepted, so not acknowledged: another replica gets the request, or this one after its restart.
    if (error.kind === 'UNAVAILABLE' && signal.aborted) throw error;
    if (handling.isSilent?.(error) === true) return;
    if (error.kind === 'INTERNAL_ERROR') mesh.report('a request over the broker failed with an internal error', error.cause ?? error);
    mesh.counts.refused += 1;
    await handling.refuse(error, request);
  }
}

/** Stops the subscriptions of a served agent, then its requests. */
export function stopServing(subscriptions: readonly Stop[], serving: AbortController): Stop {
  return async () => {
    await Promise.all(subscriptions.map((stop) => stop()));
    serving.abort();
  };
}

/** Another replica may have the task: on a store of its own, or in its cells of a store that all of them share. */
export function isNotHere(thrown: unknown): boolean {
  return thrown instanceof ElsewhereError || (isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND');
}
