import type { Writable } from 'node:stream';

/** A response, or a stream of HTTP/2. */
type Closable = Writable & { readonly aborted?: boolean };

/**
 * Whether a closed response is incomplete, because its caller has disconnected. `writableFinished` is not enough: Node ends a stream of HTTP/2
 * that the caller resets as if we had ended it. `aborted` is true only if we had not.
 */
export function isCutOff(out: Closable): boolean {
  return out.aborted === true || !out.writableFinished;
}
