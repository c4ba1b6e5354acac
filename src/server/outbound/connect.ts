import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { addressIn } from './addresses.ts';
import type { Policy } from './policy.ts';
import type { Resolve } from './resolve.ts';
import { addressesOf } from './resolve.ts';

export interface ConnectOptions {
  readonly policy: Policy;
  readonly resolve: Resolve;
  readonly connectMsMax: number;
}

/** Addresses of one name that are tried, one after the other. */
const ATTEMPTS = 3;

/**
 * Connects to an address that was checked, and to no other: the name is resolved once, here, and the socket gets the address. Node's own
 * `lookup` hook would not do, for it is never called where the host is an address already (reference/faults, 0.5).
 */
export function guardedConnector({ policy, resolve, connectMsMax }: ConnectOptions): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMsMax, allowH2: false });
  const open = async (options: buildConnector.Options): Promise<Socket> => {
    const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
    const addresses = await addressesOf(url, resolve);
    policy.checkAddresses(url, addresses);
    // Without a name a certificate for the address is asked for.
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
  return (options, done) => {
    open(options).then(
      (socket) => done(null, socket),
      (thrown: unknown) => done(thrown instanceof Error ? thrown : new Error(String(thrown)), null),
    );
  };
}

function dial(connect: buildConnector.connector, options: buildConnector.Options): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(options, (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
  });
}

/** Who is really at the other end, by the socket itself. */
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
