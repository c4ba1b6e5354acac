import type { ProtocolBinding } from '#bindings';

/** An endpoint that answered before. */
export interface RememberedEndpoint {
  readonly url: string;
  readonly binding: ProtocolBinding;
  readonly dialect: string;
}

/**
 * Remembers, for each target, the endpoint that answered, so that the next connection tries it first. A command line can keep it in a
 * file, a browser in its storage.
 */
export interface ConnectionMemory {
  recall(target: string): RememberedEndpoint | undefined | Promise<RememberedEndpoint | undefined>;
  remember(target: string, endpoint: RememberedEndpoint): void | Promise<void>;
}

/** A memory that lasts as long as the process. */
export function createMemory(): ConnectionMemory {
  const endpoints = new Map<string, RememberedEndpoint>();
  return {
    recall: (target) => endpoints.get(target),
    remember: (target, endpoint) => void endpoints.set(target, endpoint),
  };
}
