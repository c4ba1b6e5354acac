import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { BlockList, Socket } from 'node:net';
import type { HttpResponse } from '#bindings';
import { isLoopback } from '../../access/host-origin.ts';
import { clientNetwork } from '../../access/limits/client-network.ts';
import type { ServerLimits } from '../../limits.ts';
import { refusal, retryAfter } from '../../routes/responses.ts';
import { parsePath, routesAt } from '../../routes/routes.ts';
import type { ReceivedHead } from './tls.ts';
import { clientAddress, directAddress, isTrusted } from './tls.ts';

export interface ConnectionLimitOptions {
  readonly limits: Pick<ServerLimits, 'connectionsMax' | 'addressConnectionsMax' | 'reservedConnections'>;
  /** Proxies whose `X-Forwarded-For` header is trusted. */
  readonly trusted: BlockList | undefined;
  /** Loopback has no limit otherwise. For tests. */
  readonly limitLoopback: boolean;
  /** Called for each connection or request that is refused. */
  readonly onRefused: () => void;
}

const RETRY_MS = 5000;

/**
 * Limits the connections of each client address, and keeps some for operators: the last ones are for this machine, those before them
 * for admin routes (docs/faults.md, H17). Connections of a trusted proxy are not limited. There, the open requests of each forwarded address
 * are.
 */
export class ConnectionLimits {
  readonly #options: ConnectionLimitOptions;
  /** Connections of a client network, or open requests of a forwarded one. */
  readonly #open = new Map<string, number>();
  /** Connections that were accepted for operators only. */
  readonly #reserved = new WeakSet<Socket>();
  #connections = 0;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  watch(server: Server): void {
    // Before the listeners that read from the socket: a refused one is destroyed.
    server.prependListener('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Undefined: the request may be served. It counts until its response, or its stream of HTTP/2, is closed. */
  refuse(incoming: ReceivedHead & { readonly url?: string | undefined }, outgoing: Pick<EventEmitter, 'once'>): HttpResponse | undefined {
    const { trusted, limits, onRefused } = this.#options;
    if (this.#reserved.has(incoming.socket) && !isForOperators(incoming)) {
      onRefused();
      return refusal(503, 'this node has no connections left; try again', retryAfter(RETRY_MS));
    }
    const direct = directAddress(incoming.socket);
    if (trusted === undefined || direct === undefined || !isTrusted(direct, trusted)) return undefined;
    const address = clientAddress(incoming, trusted);
    if (address === undefined || address === direct || this.#isExempt(address)) return undefined;
    if (this.#take(address)) {
      outgoing.once('close', () => this.#release(address));
      return undefined;
    }
    onRefused();
    return refusal(503, `more than ${limits.addressConnectionsMax} open requests from your address; try again`, retryAfter(RETRY_MS));
  }

  #accept(socket: Socket): void {
    const { limits, trusted, onRefused } = this.#options;
    const address = directAddress(socket);
    const isLocal = address === undefined || this.#isExempt(address);
    const isCounted = !isLocal && !(trusted !== undefined && isTrusted(address, trusted));
    const left = limits.connectionsMax - this.#connections;
    if ((!isLocal && left <= limits.reservedConnections / 2) || (isCounted && !this.#take(address))) {
      onRefused();
      socket.destroy();
      return;
    }
    if (!isLocal && left <= limits.reservedConnections) this.#reserved.add(socket);
    this.#connections += 1;
    socket.on('close', this.#onClose);
    if (isCounted) socket.on('close', () => this.#release(address));
  }

  /** The same function for all connections, because each of thousands would keep one of its own in memory. */
  readonly #onClose = (): void => {
    this.#connections -= 1;
  };

  #isExempt(address: string): boolean {
    return isLoopback(address) && !this.#options.limitLoopback;
  }

  #take(address: string): boolean {
    const network = clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (open >= this.#options.limits.addressConnectionsMax) return false;
    this.#open.set(network, open + 1);
    return true;
  }

  #release(address: string): void {
    const network = clientNetwork(address);
    const open = (this.#open.get(network) ?? 0) - 1;
    if (open > 0) this.#open.set(network, open);
    else this.#open.delete(network);
  }
}

function isForOperators({ url = '/' }: { readonly url?: string | undefined }): boolean {
  const routes = routesAt(parsePath(url.split('?', 1)[0] ?? '/'));
  return routes.some(({ name, access }) => access === 'admin' || name === 'health' || name === 'ready');
}
