import type { ProtocolBinding } from '#bindings';

/** An endpoint that answered before. */
export interface RememberedEndpoint {
  /** Where requests go. */
  readonly url: string;
  /** `JSONRPC` or `HTTP+JSON`. */
  readonly binding: ProtocolBinding;
  /** Id of the dialect. */
  readonly dialect: string;
}

/**
 * Remembers, for each target, the endpoint that answered, so that the next connection tries it first. A command line can keep it in a
 * file, a browser in its storage.
 */
export interface ConnectionMemory {
  /** The endpoint that answered last time. */
  recall(target: string): RememberedEndpoint | undefined | Promise<RememberedEndpoint | undefined>;
  /** Called when an endpoint has answered. */
  remember(target: string, endpoint: RememberedEndpoint): void | Promise<void>;
}

/**
 * A memory that lasts as long as the process.
 *
 * ```ts
 * const memory = createMemory();
 * const client = await A2AClient.connect('https://agent.example', { memory }); // the next connect skips probing
 * ```
 */
export function createMemory(): ConnectionMemory {
  const endpoints = new Map<string, RememberedEndpoint>();
  return {
    recall: (target) => endpoints.get(target),
    remember: (target, endpoint) => void endpoints.set(target, endpoint),
  };
}
