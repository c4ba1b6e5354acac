/**
 * Why an outbound request failed. `target`: the policy forbids the address, so a retry can't succeed
 * until an operator allows it. The other reasons may be temporary.
 */
export type OutboundReason = 'target' | 'name' | 'redirect' | 'size' | 'encoding' | 'timeout' | 'network';

/** Thrown by the fetch functions and by `check` of an `Outbound`. */
export class OutboundError extends Error {
  override readonly name: string = 'OutboundError';
  /** Why the request failed. */
  readonly reason: OutboundReason;
  /** For code that does not know this class, such as the client: `ERR_OUTBOUND_TARGET`. */
  readonly code: string;

  constructor(reason: OutboundReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.code = `ERR_OUTBOUND_${reason.toUpperCase()}`;
  }
}
