import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { createServer as createTlsServer } from 'node:tls';
import type { HttpResponse } from '#bindings';
import type { ErasePart } from '#engine';
import { createUnsentBudget } from '../../access/limits/unsent-budget.ts';
import { isMeshAgent } from '../../agents/mesh-agents.ts';
import type { Handler } from '../../handler.ts';
import type { ServerLimits } from '../../limits.ts';
import type { Log } from '../../observability/log.ts';
import type { StreamServer } from '../node/grpc-port.ts';
import { createStreamServer } from '../node/grpc-port.ts';
import { lowerCased, writeHttp2Answer } from '../node/http2-answer.ts';
import { watchTlsConnections } from '../node/tls-connections.ts';
import type { WriteOptions } from '../node/write-response.ts';
import { Pump } from '../node/write-response.ts';
import { LINK_IDENTITY, LINK_TLS, provenBy } from './link-keys.ts';
import { LinkHttpRequest } from './link-request.ts';
import { AWAY, CALL, CELL, END, ERASE, FACTS, FIGURES, isLinkHeader, LACKS, PROOF, REACHED, readFacts, SENDS, WANTS } from './link-wire.ts';
import type { Members } from './members.ts';
import type { LinkCallHost } from './serve-call.ts';
import { refuseCall, serveLinkCall } from './serve-call.ts';
import { ServedSends } from './serve-sends.ts';

/** Options of `openLinkHost`. */
export interface LinkHostOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: Uint8Array;
  /** Of this replica: what senders have to name as the receiver. */
  readonly publicKey: string;
  readonly members: () => Pick<Members, 'isAlive'>;
  readonly limits: ServerLimits;
  readonly log: Log;
  /** The service of an agent, for streams that other replicas read. */
  readonly serviceOf: LinkCallHost['serviceOf'];
  /** What this replica counts, as JSON, for the others. */
  readonly figures: () => string;
  /** Gives a cell to the replica with this key, if nobody uses it here. */
  readonly give: (cell: number, publicKey: string) => Promise<boolean>;
  /** Erases the part that this replica has of a caller's data. */
  readonly erase: (part: ErasePart) => Promise<void>;
}

type LinkHandler = Pick<Handler, 'admit' | 'agents' | 'isServing' | 'respond'>;

/** The listener for other replicas. */
export interface LinkHost {
  /** The port that it listens on. */
  readonly port: number;
  /** Answers requests from now on. Until then, and when the handler stops serving, it sends senders to another replica. */
  serve(handler: LinkHandler): void;
  close(): Promise<void>;
}

const WINDOW_BYTES = 16_777_216;
/** All sends of a node come in one stream. With Node's default of 64 KiB it would carry 30 MB a second at most where a round trip takes 2 ms. */
const STREAM_WINDOW_BYTES = 1_048_576;
const STREAMS_MAX = 1000;
/** Node refuses new streams while more than 10 MB wait to be sent, and breaks the connection after 100 of them: one large answer is enough. */
const SESSION_MEGABYTES_MAX = 4096;
/** Senders report what their callers have received. A report that does not come leaves its entry here. */
const MARKS_MAX = 10_000;
const CLOSE_MS_MAX = 1000;

interface Arrived {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly socket: TLSSocket;
}

/** Listens for requests that other replicas have received. */
export async function openLinkHost(options: LinkHostOptions): Promise<LinkHost> {
  const { host, port, secret, log, limits } = options;
  const sessions = new Set<ServerHttp2Session>();
  const http2 = createServer({
    maxSessionMemory: SESSION_MEGABYTES_MAX,
    settings: { maxConcurrentStreams: STREAMS_MAX, enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
  });
  const server = createTlsServer({
    ...LINK_TLS,
    handshakeTimeout: 10_000,
    pskCallback: (_, identity) => (identity === LINK_IDENTITY ? secret : null),
  });
  const closeAll = watchTlsConnections(server);
  const link = new ServedLink(options);
  http2.on('sessionError', (error) => log.debug('a connection of a replica failed', { error: error.message }));
  server.on('tlsClientError', (error) =>
    log.debug('a program that is no replica of this database tried to connect', { error: error.message }),
  );
  server.on('secureConnection', (socket) => {
    http2.once('session', (session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
      session.setLocalWindowSize(WINDOW_BYTES);
      session.on('stream', (stream, headers) => {
        stream.on('error', () => {}); // a sender whose caller has left resets the stream
        link.take({ stream, headers, socket }).catch((thrown: unknown) => {
          log.error('a request of another replica could not be handled', thrown);
          stream.destroy();
        });
      });
    });
    http2.emit('connection', socket);
  });
  await new Promise<void>((resolve, reject) => {
    // Exclusive: workers share the public port, but each one has a link of its own.
    server.once('error', reject).listen({ port, host, exclusive: true }, () => {
      server.off('error', reject).on('error', (thrown) => log.error('a connection of a replica could not be accepted', thrown));
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    serve: (handler) => link.serve(handler, limits),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      link.finish();
      for (const session of sessions) session.close();
      const late = setTimeout(() => {
        for (const session of sessions) session.destroy();
        closeAll();
      }, CLOSE_MS_MAX);
      await closed;
      clearTimeout(late);
    },
  };
}

/** Checks who sends, and lets the node answer. */
class ServedLink {
  readonly #options: LinkHostOptions;
  readonly #senders = new WeakMap<TLSSocket, string>();
  readonly #marks = new Map<string, () => void>();
  readonly #calls: LinkCallHost;
  readonly #sends = new Set<ServedSends>();
  #handler: Pick<Handler, 'agents' | 'isServing'> | undefined;
  #server: StreamServer | undefined;

  constructor(options: LinkHostOptions) {
    this.#options = options;
    const { serviceOf, log } = options;
    const isServing = (): boolean => this.#handler?.isServing() === true;
    this.#calls = { serviceOf, log, isServing, keepMark: (key, mark) => this.#keepMark(key, mark) };
  }

  serve(handler: LinkHandler, limits: ServerLimits): void {
    this.#handler = handler;
    const write = (stream: ServerHttp2Stream, answer: HttpResponse, options: WriteOptions): void => this.#write(stream, answer, options);
    this.#server = createStreamServer({ handler, limits, budget: createUnsentBudget(limits), onCut: () => {}, services: undefined }, write);
  }

  async take({ stream, headers, socket }: Arrived): Promise<void> {
    const { publicKey, members, limits } = this.#options;
    const sender = this.#senders.get(socket) ?? provenBy(text(headers[PROOF]), socket, publicKey);
    if (sender === undefined || !(await members().isAlive(sender))) return refuseCall(stream, { [AWAY]: '1' }, 401);
    this.#senders.set(socket, sender);
    if (headers[FIGURES] !== undefined) return stream.respond({ ':status': 204, [FIGURES]: this.#options.figures() }, { endStream: true });
    if (headers[WANTS] !== undefined) return this.#give(stream, text(headers[WANTS]), sender);
    if (headers[ERASE] !== undefined) return this.#erase(stream);
    const reached = headers[REACHED];
    if (reached !== undefined) this.#delivered(text(reached).split(','));
    if (reached !== undefined && headers[FACTS] === undefined && headers[CALL] === undefined) return refuseCall(stream, {}, 204);
    // A node that drains says by itself that another one has to answer.
    if (this.#server === undefined) return refuseCall(stream, { [AWAY]: '1' });
    if (headers[SENDS] !== undefined) return this.#serveSends(stream, sender);
    if (headers[CALL] !== undefined) return await serveLinkCall(stream, this.#calls);
    const facts = readFacts(text(headers[FACTS]));
    if (facts === undefined) return refuseCall(stream, {}, 400);
    if (!this.#hasAgent(facts.agent)) return refuseCall(stream, { [AWAY]: '1', [LACKS]: '1' });
    const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !isLinkHeader(name)));
    const request = new LinkHttpRequest(stream, own, { socket, bodyMsMax: limits.requestMsMax, facts, keepMark: this.#calls.keepMark });
    this.#requests.set(stream, request);
    if (await this.#server.serve({ stream, request, headers: own }))
      refuseCall(stream, { [AWAY]: '1', [CELL]: String(request.elsewhere?.cell) });
  }

  #serveSends(stream: ServerHttp2Stream, sender: string): void {
    if (stream.destroyed) return;
    const isAlive = (): Promise<boolean> => this.#options.members().isAlive(sender);
    const sends = new ServedSends(stream, { ...this.#calls, isAlive, delivered: (keys) => this.#delivered(keys) });
    this.#sends.add(sends);
    stream.once('close', () => this.#sends.delete(sends));
  }

  /** Lets senders go elsewhere. What is running is answered. */
  finish(): void {
    for (const sends of this.#sends) sends.finish();
  }

  /** A replica that has an agent which this one lacks asks for a cell with conversations of it. */
  async #give(stream: ServerHttp2Stream, wants: string, sender: string): Promise<void> {
    const [cell = '', agent = ''] = wants.split(' ').map(decodeURIComponent);
    const isGiven = !this.#hasAgent(agent) && (await this.#options.give(Number(cell), sender));
    stream.respond({ ':status': 204, [WANTS]: String(isGiven) }, { endStream: true });
  }

  /** Only verified replicas send this. */
  async #erase(stream: ServerHttp2Stream): Promise<void> {
    await this.#options.erase(JSON.parse((await buffer(stream)).toString()) as ErasePart);
    if (!stream.destroyed) stream.respond({ ':status': 204, [ERASE]: '1' }, { endStream: true });
  }

  #hasAgent(name: string | undefined): boolean {
    // Agents of the mesh are made at their first call, and are on no list.
    return name === undefined || isMeshAgent(name) || this.#handler?.agents.some((agent) => agent.name === name) === true;
  }

  readonly #requests = new WeakMap<ServerHttp2Stream, LinkHttpRequest>();

  /** A sender that gets a response tells later whether it has reached the caller. */
  #keepMark(key: string, mark: () => void): void {
    const [oldest] = this.#marks.keys();
    if (this.#marks.size >= MARKS_MAX && oldest !== undefined) this.#marks.delete(oldest);
    this.#marks.set(key, mark);
  }

  #delivered(keys: readonly string[]): void {
    for (const key of keys) {
      this.#marks.get(key)?.();
      this.#marks.delete(key);
    }
  }

  #write(stream: ServerHttp2Stream, answer: HttpResponse, options: WriteOptions): void {
    const isServing = (): boolean => this.#handler?.isServing() === true;
    const request = this.#requests.get(stream);
    const headers = {
      ...answer.headers,
      ...request?.forwarded.answerHeaders(),
      ...(answer.status === 503 && !isServing() ? { [AWAY]: '1' } : {}),
    };
    const onDelivered = request?.delivered;
    const { body } = answer;
    if (body === null || typeof body === 'string' || stream.destroyed) {
      writeHttp2Answer(stream, { ...answer, headers }, { ...options, onDelivered });
      return;
    }
    stream.respond({ ':status': answer.status, ...lowerCased(headers) }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ [END]: body.isWhole ? 'whole' : isServing() ? 'cut' : 'away' }));
    new Pump(body, stream, { ...options, onDelivered }).run();
  }
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}
