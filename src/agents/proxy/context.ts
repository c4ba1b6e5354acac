import type { AgentCard, CallContext, Message } from '#protocol';
import { answeringDialect, createRegistry, DIALECTS, isLetGo, LOCAL_PRINCIPAL } from '#protocol';

/**
 * The dialect of our own calls. It has no effect: the client behind the service chooses what it speaks.
 */
const dialect = answeringDialect(createRegistry(DIALECTS), {}).id;

/** The context of a call to an origin. The default principal is `local`. */
export function callingContext(
  more: Pick<CallContext, 'signal' | 'extensions' | 'idempotencyKey'> & Partial<Pick<CallContext, 'principal' | 'tenant' | 'trace'>>,
): CallContext {
  return { principal: LOCAL_PRINCIPAL, dialect, ...more };
}

/** The extensions that an origin requires, and those of the message. */
export function extensionsFor(origin: AgentCard, message?: Message): readonly string[] {
  const required = (origin.capabilities.extensions ?? []).filter((extension) => extension.required === true).map(({ uri }) => uri);
  return [...new Set([...required, ...(message?.extensions ?? [])])];
}

/** A signal that fires a little later than another one. */
export interface Lingering {
  readonly signal: AbortSignal;
  /** The purpose of the delay is fulfilled: from now on the turn's own signal applies. */
  end(): void;
}

/**
 * A task that is canceled before its origin has named it can't be canceled there. So the call that
 * started it continues for a moment, until the name is known.
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
