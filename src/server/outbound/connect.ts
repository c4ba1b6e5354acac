import type { Socket } from 'node:net';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { addressIn } from './addresses.ts';
import { OutboundError } from './errors.ts';
import type { Policy } from './policy.ts';
import type { Resolve } from './resolve.ts';
import { addressesOf } from './resolve.ts';

/** How connections are checked and opened. */
export interface OutboundConnectOptions {
  readonly policy: Policy;
  readonly resolve: Resolve;
  readonly connectMsMax: number;
}

/** The maximum number of a name's addresses to try, one after the other. */
const ATTEMPTS = 3;

/**
 * Connects only to addresses that the policy has checked. The name is resolved once, here, and the
 * socket connects to the resolved address, so a second DNS answer can't redirect it. Node's own
 * `lookup` hook is not enough: Node does not call it when the host is an IP address.
 *
 * `protocols` are the versions of HTTP that a TLS connection offers, the preferred one first (ALPN).
 */
export function guardedSocket(
  { policy, resolve, connectMsMax }: OutboundConnectOptions,
  protocols: readonly string[],
): (origin: URL) => Promise<Socket> {
  return async (origin) => {
    policy.checkUrl(origin);
    const addresses = await addressesOf(origin, resolve);
    policy.checkAddresses(origin, addresses);
    let failure: unknown;
    for (const address of addresses.slice(0, ATTEMPTS)) {
      try {
        const socket = socketTo(origin, address.toString(), protocols);
        return confirmed(await connected(socket, origin, connectMsMax), policy, origin);
      } catch (thrown) {
        failure = thrown;
      }
    }
    throw failure;
  };
}

function socketTo({ protocol, hostname, port }: URL, host: string, protocols: readonly string[]): Socket {
  if (protocol !== 'https:') return connectTcp({ host, port: Number(port || 80), noDelay: true });
  // TLS checks the certificate against this name. For an IP address there is no server name, and TLS checks the address.
  const named = addressIn(hostname) === undefined ? { servername: hostname.replace(/\.$/, '') } : {};
  return connectTls({ host, port: Number(port || 443), ALPNProtocols: [...protocols], ...named }).setNoDelay(true);
}

function connected(socket: Socket, { protocol, host }: URL, msMax: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const timer = setTimeout(() => socket.destroy(new OutboundError('timeout', `${host} could not be connected to in time`)), msMax);
  socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer);
    resolve(socket);
  });
  // Stays after the connection is open, so that an error of an idle connection does not end the process.
  socket.on('error', reject);
  socket.once('close', () => {
    clearTimeout(timer);
    reject(new Error(`${host} closed the connection`));
  });
  return promise;
}

/** Checks the address that the socket is really connected to. */
function confirmed(socket: Socket, policy: Policy, origin: URL): Socket {
  const address = addressIn(socket.remoteAddress ?? '');
  try {
    policy.checkAddresses(origin, address === undefined ? [] : [address]);
    return socket;
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}
