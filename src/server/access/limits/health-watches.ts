import { A2AError } from '#protocol';
import { clientNetwork } from './client-network.ts';

/** Everyone may watch, and a watch has no end. */
const WATCHES_MAX = 1000;
const RETRY_MS = 5000;

/** Limits the health watches of a node over gRPC, and those of each client address: one client must not take all of them from the others. */
export class HealthWatches {
  readonly #addressMax: number;
  readonly #open = new Map<string, number>();
  #count = 0;

  /** `addressMax`: the limit of one address, loopback too, because a proxy on this machine passes on the calls of others. 0: none. */
  constructor(addressMax: number) {
    this.#addressMax = addressMax;
  }

  /** Counts a watch until the function that it returns is called. Throws RATE_LIMITED. */
  begin(address: string | undefined): () => void {
    const network = address === undefined ? '' : clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (this.#addressMax > 0 && open >= this.#addressMax)
      throw refused(`your address has its maximum of ${this.#addressMax} health watches`);
    if (this.#count >= WATCHES_MAX) throw refused(`this node has its maximum of ${WATCHES_MAX} health watches`);
    this.#count += 1;
    this.#open.set(network, open + 1);
    return () => this.#end(network);
  }

  #end(network: string): void {
    this.#count -= 1;
    const left = (this.#open.get(network) ?? 0) - 1;
    if (left > 0) this.#open.set(network, left);
    else this.#open.delete(network);
  }
}

function refused(reason: string): A2AError {
  return new A2AError('RATE_LIMITED', `${reason}; call Check instead`, { retryAfterMs: RETRY_MS });
}
