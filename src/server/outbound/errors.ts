/**
 * Why a request did not go out, or its answer did not come in. `target`: it may not go there, today or ever, unless an operator allows it.
 * The others may be different next time.
 */
export type OutboundReason = 'target' | 'name' | 'redirect' | 'size' | 'encoding' | 'timeout' | 'network';

export class OutboundError extends Error {
  override readonly name: string = 'OutboundError';
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
