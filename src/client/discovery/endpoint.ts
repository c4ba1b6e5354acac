import type { ProtocolBinding } from '#bindings';
import type { AgentCard, Dialect, Registry, TenantId } from '#protocol';

/** One address at which an agent can be called, with the binding and the dialect to use there. */
export interface Endpoint {
  /** Where requests go. */
  readonly url: string;
  /** How requests are sent there: `JSONRPC` or `HTTP+JSON`. */
  readonly binding: ProtocolBinding;
  /** How the JSON is spelled there. */
  readonly dialect: Dialect;
  /** The A2A version that the card states for it; empty if no card does. */
  readonly version: string;
  /** Tenant that the card names for this interface. It is added to every request. */
  readonly tenant?: TenantId;
  /** Why this endpoint was chosen, for people. */
  readonly why: string;
}

/**
 * Strict mode: chooses the one endpoint that is called. The client then tries no other endpoint, repeats no call and resumes no stream.
 * `strictMode` of `parley-a2a/client/strict` makes one that follows the A2A CLI specification.
 */
export interface StrictMode {
  /** Returns the endpoint to call. Throws a `ClientError` if none is acceptable. */
  choose(endpoints: readonly Endpoint[], registry: Registry, card: AgentCard | undefined): Endpoint;
}
