import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { addressIn } from './addresses.ts';
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
 */
export function guardedConnector(options: OutboundConnectOptions): buildConnector.connector {
  const open = opener(options, { allowH2: false });
  return (wanted, done) => {
    open(wanted).then(
      (socket) => done(null, socket),
      (thrown: unknown) => done(thrown instanceof Error ? thrown : new Error(String(thrown)), null),
    );
  };
}

/** The same for a connection of HTTP/2, which its caller keeps. */
export function guardedSocket(options: OutboundConnectOptions): (origin: URL) => Promise<Socket> {
  const open = opener(options, { allowH2: true });
  return async (origin) => {
    options.policy.checkUrl(origin);
    const { protocol, host, hostname, port } = origin;
    return await open({ protocol, host, hostname, port });
  };
}

type Open = (options: buildConnector.Options) => Promise<Socket>;

function opener({ policy, resolve, connectMsMax }: OutboundConnectOptions, { allowH2 }: { readonly allowH2: boolean }): Open {
  const connect = buildConnector({ timeout: connectMsMax, allowH2 });
  return async (options: buildConnector.Options): Promise<Socket> => {
    const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
    const addresses = await addressesOf(url, resolve);
    policy.checkAddresses(url, addresses);
    // TLS checks the certificate against this name. For an IP address there is no server name, and TLS checks the address.
    const named = addressIn(url.hostname) === undefined ? { servername: options.servername ?? url.hostname.replace(/\.$/, '') } : {};
    let failure: unknown;
    for (const address of addresses.slice(0, ATTEMPTS)) {
      try {
        return confirmed(await dial(connect, { ...options, ...named, hostname: address.toString() }), policy, url);
      } catch (thrown) {
        failure = thrown;
      }
    }
    throw failure;
  };
}

function dial(connect: buildConnector.connector, options: buildConnector.Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(options, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
  });
}

/** Checks the address that the socket is really connected to. */
function confirmed(socket: Socket, policy: Policy, url: URL): Socket {
  const address = addressIn(socket.remoteAddress ?? '');
  try {
    policy.checkAddresses(url, address === undefined ? [] : [address]);
    return socket;
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}
