import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { connect as connectHttp2 } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import type { ReplicaAddress } from '../../../engine/adapters/postgres.ts';
import type { LinkKeys } from './link-keys.ts';
import { LINK_IDENTITY, LINK_TLS } from './link-keys.ts';
import { PROOF } from './link-wire.ts';

/** Options of `createLinks`. */
export interface LinksOptions {
  readonly secret: Uint8Array;
  readonly keys: LinkKeys;
  /** A replica that does not answer for this long counts as gone. */
  readonly silentMsMax: number;
}

/** Connections to other replicas. */
export interface Links {
  /** Sends the head of a request. Rejects if there is no connection: then nothing was sent. */
  request(to: ReplicaAddress, head: OutgoingHttpHeaders): Promise<ClientHttp2Stream>;
  /** Opens a connection if none is open. Rejects with the reason if that fails. */
  connect(to: ReplicaAddress): Promise<void>;
  /** Breaks the connections to all other replicas than these. Requests on them fail. */
  keepOnly(to: readonly ReplicaAddress[]): void;
  close(): void;
}

/** So many streams of slow readers fit into the window of a connection. Then another one is opened. */
const STREAMS_A_CONNECTION = 200;
const STREAM_WINDOW_BYTES = 262_144;
const WINDOW_BYTES = 67_108_864;
const CONNECT_MS_MAX = 3000;

interface Connection {
  readonly to: string;
  readonly session: ClientHttp2Session;
  readonly proof: string;
  streams: number;
}

export function createLinks(options: LinksOptions): Links {
  return new PooledLinks(options);
}

class PooledLinks implements Links {
  readonly #options: LinksOptions;
  readonly #open = new Set<Connection>();
  readonly #opening = new Map<string, Promise<Connection>>();

  constructor(options: LinksOptions) {
    this.#options = options;
  }

  async request(to: ReplicaAddress, head: OutgoingHttpHeaders): Promise<ClientHttp2Stream> {
    const connection = await this.#connection(to);
    const stream = connection.session.request({ ...head, [PROOF]: connection.proof });
    connection.streams += 1;
    stream.once('close', () => {
      connection.streams -= 1;
    });
    return stream;
  }

  async connect(to: ReplicaAddress): Promise<void> {
    await this.#connection(to);
  }

  keepOnly(to: readonly ReplicaAddress[]): void {
    for (const { to: key, session } of this.#open) if (!to.some(({ publicKey }) => publicKey === key)) session.destroy();
  }

  close(): void {
    for (const { session } of this.#open) session.destroy();
  }

  async #connection(to: ReplicaAddress): Promise<Connection> {
    for (const connection of this.#open) {
      const { session, streams } = connection;
      if (connection.to === to.publicKey && streams < STREAMS_A_CONNECTION && !session.closed && !session.destroyed) return connection;
    }
    let opening = this.#opening.get(to.publicKey);
    if (opening === undefined) {
      opening = this.#connect(to).finally(() => this.#opening.delete(to.publicKey));
      this.#opening.set(to.publicKey, opening);
    }
    return await opening;
  }

  async #connect(to: ReplicaAddress): Promise<Connection> {
    const { keys, silentMsMax } = this.#options;
    const socket = await this.#openSocket(to);
    const session = connectHttp2('http://replica', {
      createConnection: () => socket,
      settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
    });
    const connection: Connection = { to: to.publicKey, session, proof: keys.prove(socket, to.publicKey), streams: 0 };
    session.on('error', () => {}); // its streams fail with it
    this.#open.add(connection);
    const pinging = setInterval(() => ping(session, silentMsMax), silentMsMax / 2);
    pinging.unref();
    session.once('close', () => {
      clearInterval(pinging);
      this.#open.delete(connection);
    });
    await new Promise<void>((resolve, reject) => {
      session.once('connect', () => resolve()).once('close', () => reject(new Error('the replica closed the connection')));
    });
    session.setLocalWindowSize(WINDOW_BYTES);
    session.unref();
    return connection;
  }

  #openSocket({ link }: ReplicaAddress): Promise<TLSSocket> {
    if (link === '') return Promise.reject(new Error('that replica is of an older version, which takes no requests of others'));
    const { hostname, port } = new URL(`tcp://${link}`);
    return new Promise((resolve, reject) => {
      const socket = connectTls({
        ...LINK_TLS,
        host: hostname.replace(/^\[|\]$/g, ''),
        port: Number(port),
        pskCallback: () => ({ psk: this.#options.secret, identity: LINK_IDENTITY }),
        checkServerIdentity: () => undefined, // the pre-shared key has proven what it is
      });
      const fail = (error: Error): void => {
        clearTimeout(late);
        socket.destroy();
        reject(error);
      };
      const late = setTimeout(() => fail(new Error('the replica did not answer in time')), CONNECT_MS_MAX);
      socket.once('error', fail).once('secureConnect', () => {
        clearTimeout(late);
        socket.off('error', fail);
        resolve(socket);
      });
      socket.setNoDelay(true);
    });
  }
}

/** Breaks a connection whose other end does not answer. A paused process keeps its connections open. */
function ping(session: ClientHttp2Session, silentMsMax: number): void {
  if (session.destroyed || session.closed) return;
  const late = setTimeout(() => session.destroy(), silentMsMax);
  late.unref();
  session.ping(() => clearTimeout(late));
}
