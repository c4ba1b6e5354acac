import type { AgentCard, CallContext, Message } from '#protocol';
import { answeringDialect, createRegistry, DIALECTS, isLetGo, LOCAL_PRINCIPAL } from '#protocol';

/** Calls of our own, as whoever the client behind the service is. Which dialect is spoken is that client's affair. */
const dialect = answeringDialect(createRegistry(DIALECTS), {}).id;

export function callingContext(
  more: Pick<CallContext, 'signal' | 'extensions' | 'idempotencyKey'> & Partial<Pick<CallContext, 'principal' | 'tenant'>>,
): CallContext {
  return { principal: LOCAL_PRINCIPAL, dialect, ...more };
}

/** What an origin requires, and what the message asks for. */
export function extensionsFor(origin: AgentCard, message?: Message): readonly string[] {
  const required = (origin.capabilities.extensions ?? []).filter((extension) => extension.required === true).map(({ uri }) => uri);
  return [...new Set([...required, ...(message?.extensions ?? [])])];
}

export interface Lingering {
  readonly signal: AbortSignal;
  /** What it was for has happened: from now on it is the turn's own. */
  end(): void;
}

/**
 * A task that is cancelled before its origin has named it can't be cancelled there. So the call that began it goes on for a moment, until
 * the name is known.
 */
export function linger(of: AbortSignal, ms: number): Lingering {
  const own = new AbortController();
  let isEnded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = (): void => own.abort(of.reason);
  const stop = (): void => {
    if (isEnded || isLetGo(of)) abort();
    else timer ??= setTimeout(abort, ms);
  };
  if (of.aborted) abort();
  else of.addEventListener('abort', stop, { once: true });
  return {
    signal: own.signal,
    end: () => {
      isEnded = true;
      clearTimeout(timer);
      if (of.aborted) abort();
    },
  };
}
