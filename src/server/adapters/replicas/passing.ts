import type { ClientHttp2Stream, Http2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { encodeRetry, isGrpcTrailer } from '#bindings';
import { isCutOff } from '../node/cut-off.ts';
import { unavailableTrailers } from './grpc-status.ts';
import { END } from './link-wire.ts';
import type { OutsideReply, OutsideRequest } from './outside.ts';
import { responseHeaders, writeOutside } from './outside.ts';

/**
 * How passing a response on ended. `done`: nothing is left to do. `away`: the replica has done nothing. `unknown`: the connection broke, and the
 * replica may have done something.
 */
export type Passed = 'done' | 'away' | 'unknown';

const EVENT_STREAM = 'text/event-stream';
/** Status of gRPC: try again. */
const UNAVAILABLE = '14';
const ENDED = 'the node that served this call has ended; try again';
/** A short response is passed on when it is complete, so that a broken one can be asked for again. */
const WHOLE_BYTES_MAX = 1_048_576;

/** A response up to this size is written at once. A caller that reads a larger one too slowly is disconnected. */
const AT_ONCE_BYTES_MAX = 65_536;

const RECONNECT_MS = 1000;

/** A response as it comes from another replica. */
interface Coming {
  readonly stream: ClientHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
}

/** Passes the response of another replica on to the caller, over as many replicas as it takes. */
export class Passing {
  readonly #request: OutsideRequest;
  readonly #idleMsMax: number;
  #isBegun = false;
  #isEvents = false;
  #isComplete = false;
  #hasProgress = false;
  #hasRefusal = false;

  constructor(request: OutsideRequest, idleMsMax: number) {
    this.#request = request;
    this.#idleMsMax = idleMsMax;
  }

  /** Whether the caller has got a part of the response. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Whether the whole response was written for the caller. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether what the caller gets is a stream of events. */
  get isEvents(): boolean {
    return this.#isEvents;
  }

  /** Whether something was passed on since the last call. */
  takeProgress(): boolean {
    const had = this.#hasProgress;
    this.#hasProgress = false;
    return had;
  }

  async pass(stream: ClientHttp2Stream, headers: IncomingHttpHeaders): Promise<Passed> {
    const coming: Coming = { stream, headers, trailers: {} };
    stream.once('trailers', (trailers) => {
      coming.trailers = trailers;
    });
    const type = headers['content-type'] ?? '';
    if (type.startsWith(EVENT_STREAM)) return this.#events(coming);
    if (/^application\/grpc(?:\+|;|$)/.test(type)) return this.#grpc(coming);
    const length = headers['content-length'];
    return length !== undefined && Number(length) <= WHOLE_BYTES_MAX ? this.#whole(coming, Number(length)) : this.#piecewise(coming);
  }

  /** A stream that breaks is resumed by its caller. */
  async #events(coming: Coming): Promise<Passed> {
    this.#isEvents = true;
    this.#head(coming);
    const isRead = await this.#eachPiece(coming, (piece) => this.#write(piece));
    if (!isRead) return 'done';
    const end = coming.trailers[END];
    if (end === 'whole' || end === 'cut') return this.#end(end);
    await this.leave();
    return 'done';
  }

  async #whole(coming: Coming, length: number): Promise<Passed> {
    const { method, reply } = this.#request;
    const body = await allOf(coming.stream);
    if (body.length !== length && method !== 'HEAD') return 'unknown';
    if (body.length > AT_ONCE_BYTES_MAX) {
      this.#head(coming);
      await this.#write(body);
      return this.#end();
    }
    this.#isBegun = true;
    if (!reply.out.destroyed) reply.whole(statusOf(coming.headers), ofGrpc(coming.headers, false), body);
    return 'done';
  }

  async #piecewise(coming: Coming): Promise<Passed> {
    const isRead = await this.#eachPiece(coming, (piece) => {
      if (!this.#isBegun) this.#head(coming);
      return this.#write(piece);
    });
    if (!isRead) return 'done';
    const end = coming.trailers[END];
    const isComplete = end === undefined ? isClosedWell(coming.stream) : end !== 'away';
    if (!isComplete && !this.#isBegun) return 'unknown';
    if (!this.#isBegun) this.#head(coming);
    if (isComplete) return this.#end(end);
    this.#request.reply.cut();
    return 'done';
  }

  async #grpc(coming: Coming): Promise<Passed> {
    const isRead = await this.#eachPiece(coming, (piece) => {
      if (!this.#isBegun) this.#head(coming);
      return this.#write(piece);
    });
    if (!isRead) return 'done';
    const status = coming.trailers['grpc-status'] ?? coming.headers['grpc-status'];
    if (!this.#isBegun && status === undefined) return 'unknown';
    // A replica that ends answers so what it can't finish. A second time it is the answer.
    if (!this.#isBegun && status === UNAVAILABLE && !this.#hasRefusal) {
      this.#hasRefusal = true;
      return 'unknown';
    }
    if (!this.#isBegun) this.#head(coming);
    // An answer without messages has its status in the head. The caller gets it in the trailers, as with messages.
    const told = coming.trailers['grpc-status'] === undefined ? coming.headers : coming.trailers;
    this.#isComplete = status !== undefined;
    this.#request.reply.end(status === undefined ? await unavailableTrailers(ENDED) : ofGrpc(told, true));
    return 'done';
  }

  /** False: the caller has left. */
  async #eachPiece({ stream }: Coming, take: (piece: Uint8Array) => Promise<boolean>): Promise<boolean> {
    try {
      for await (const piece of stream) if (!(await take(piece as Uint8Array))) return false;
    } catch {
      // The connection broke; what has arrived tells whether that matters.
    }
    return !this.#request.reply.out.destroyed;
  }

  #head({ headers }: Coming): void {
    this.#isBegun = true;
    this.#hasProgress = true;
    if (!this.#request.reply.out.destroyed) this.#request.reply.head(statusOf(headers), ofGrpc(headers, false));
  }

  async #write(piece: string | Uint8Array): Promise<boolean> {
    if (piece.length === 0) return !this.#request.reply.out.destroyed;
    this.#hasProgress = true;
    const isTaken = await writeOutside(this.#request.reply, piece, this.#idleMsMax);
    if (!isTaken) this.#request.reply.cut();
    return isTaken;
  }

  /** This replica ends. The caller gets a time to reconnect, and finds another one. */
  async leave(): Promise<void> {
    await this.#write(encodeRetry(RECONNECT_MS));
    this.#request.reply.end();
  }

  #end(end?: unknown): Passed {
    this.#isComplete = end !== 'cut';
    this.#request.reply.end();
    return 'done';
  }
}

/** The body, or what has come of it when the connection broke. */
export function allOf(stream: Http2Stream): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const done = (): void => resolve(Buffer.concat(pieces));
    stream.on('data', (piece: Buffer) => void pieces.push(piece));
    stream.once('end', done).once('close', done);
    if (stream.destroyed) done();
  });
}

function statusOf(headers: IncomingHttpHeaders): number {
  return Number(headers[':status'] ?? 502);
}

/** The headers with or without those that end a call of gRPC. */
function ofGrpc(headers: IncomingHttpHeaders, isEnd: boolean): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(responseHeaders(headers)).filter(([name]) => isGrpcTrailer(name) === isEnd));
}

function isClosedWell(stream: ClientHttp2Stream): boolean {
  return stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR && stream.session?.destroyed !== true;
}

/** What breaks off a response when its caller leaves. */
export function cancelWith({ out }: OutsideReply, stream: ClientHttp2Stream): () => void {
  const cancel = (): void => {
    if (isCutOff(out)) stream.close(constants.NGHTTP2_CANCEL);
  };
  out.once('close', cancel);
  return () => out.off('close', cancel);
}
