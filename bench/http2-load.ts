import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { placeOfId, writeNextId } from './load.ts';

/** Calls on one connection of HTTP/2. */
export interface Http2Load {
  readonly url: string;
  readonly path: string;
  readonly type: string;
  /** The body of each call, with `ID_PLACE` in the place of the id. */
  readonly body: Uint8Array;
  /** Calls at once. */
  readonly streams: number;
  readonly ms: number;
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const HEAD_BYTES = 9;
/** Where the head of a frame has its type, its flags and its stream. */
const TYPE_AT = 3;
const FLAGS_AT = 4;
const STREAM_AT = 5;
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
/** The setting of the window of each stream. */
const INITIAL_WINDOW_SIZE = 4;
const WINDOW = 2 ** 30;

/**
 * A cheap client of HTTP/2, for the reason that `requestsPerSecond` has one: prepared frames on a raw socket. Node's own client costs as
 * much per call as the servers that are measured. Responses are recognised by the end of their stream. The calls that follow the responses of
 * one read leave in one write, as those of other clients of HTTP/2 do.
 */
export async function http2CallsPerSecond({ url, path, type, body, streams, ms }: Http2Load): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const headers = headerBlock({
    ...{ ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': host },
    ...{ 'content-type': type, 'a2a-version': '1.0', te: 'trailers' },
  });
  const began = performance.now();
  try {
    const done = await new Promise<number>((resolve, reject) => {
      const calls = new Calls(socket, new PreparedCall(headers, body), {
        until: began + ms,
        onDone: resolve,
        onProblem: (what) => reject(new Error(what)),
      });
      socket.once('connect', () => calls.begin(streams));
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the server closed the connection')));
    });
    return done / ((performance.now() - began) / 1000);
  } finally {
    socket.destroy();
  }
}

/** The frames of a call. */
class PreparedCall {
  readonly #frames: Buffer;
  readonly #dataAt: number;
  readonly #idAt: number;

  constructor(headers: Buffer, body: Uint8Array) {
    const head = frame(HEADERS, END_HEADERS, 0, headers);
    this.#frames = Buffer.concat([head, frame(DATA, END_STREAM, 0, body)]);
    this.#dataAt = head.length;
    this.#idAt = placeOfId(this.#frames);
  }

  on(stream: number): Buffer {
    writeNextId(this.#frames, this.#idAt);
    this.#frames.writeUInt32BE(stream, STREAM_AT);
    this.#frames.writeUInt32BE(stream, this.#dataAt + STREAM_AT);
    return Buffer.from(this.#frames); // a copy, because the previous write may not be flushed yet
  }
}

interface CallsOptions {
  readonly until: number;
  onDone(calls: number): void;
  onProblem(what: string): void;
}

class Calls {
  readonly #socket: Socket;
  readonly #call: PreparedCall;
  readonly #options: CallsOptions;
  /** Bytes of the response of each open stream. */
  readonly #open = new Map<number, number>();
  #rest: Buffer = Buffer.alloc(0);
  #next = 1;
  #done = 0;
  #unseen = 0;

  constructor(socket: Socket, call: PreparedCall, options: CallsOptions) {
    this.#socket = socket;
    this.#call = call;
    this.#options = options;
    socket.on('data', (piece: Buffer) => this.#read(piece));
  }

  begin(streams: number): void {
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
    settings.writeUInt32BE(WINDOW, 2);
    this.#socket.write(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0, settings), frame(WINDOW_UPDATE, 0, 0, uint32(WINDOW))]));
    for (let count = 0; count < streams; count += 1) this.#begin();
  }

  #begin(): void {
    this.#open.set(this.#next, 0);
    this.#socket.write(this.#call.on(this.#next));
    this.#next += 2;
  }

  #read(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let at = 0;
    this.#socket.cork();
    while (bytes.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
      if (bytes.length < end) break;
      this.#take(bytes, at, end);
      at = end;
    }
    this.#socket.uncork();
    this.#rest = bytes.subarray(at);
  }

  #take(bytes: Buffer, at: number, end: number): void {
    const [type, flags] = [bytes[at + TYPE_AT], bytes[at + FLAGS_AT] ?? 0];
    const [start, isEnd] = [at + HEAD_BYTES, (flags & END_STREAM) !== 0];
    if (type === DATA) this.#answer(bytes.readUInt32BE(at + STREAM_AT), end - start, isEnd);
    else if (type === HEADERS) this.#answer(bytes.readUInt32BE(at + STREAM_AT), 0, isEnd);
    else if (type === SETTINGS && (flags & ACK) === 0) this.#socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    else if (type === PING && (flags & ACK) === 0) this.#socket.write(frame(PING, ACK, 0, bytes.subarray(start, end)));
    else if (type === RST_STREAM || type === GOAWAY) this.#options.onProblem(`the server sent a frame of type ${type}`);
  }

  #answer(id: number, bytes: number, isEnd: boolean): void {
    const before = this.#open.get(id) ?? 0;
    this.#refill(bytes);
    if (!isEnd) {
      this.#open.set(id, before + bytes);
      return;
    }
    this.#open.delete(id);
    this.#done += 1;
    if (before + bytes === 0) this.#options.onProblem('an answer without a message');
    else if (performance.now() < this.#options.until) this.#begin();
    else if (this.#open.size === 0) this.#options.onDone(this.#done);
  }

  /** Gives the server its window for the connection back. */
  #refill(bytes: number): void {
    this.#unseen += bytes;
    if (this.#unseen < WINDOW / 2) return;
    this.#socket.write(frame(WINDOW_UPDATE, 0, 0, uint32(this.#unseen)));
    this.#unseen = 0;
  }
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  whole.writeUIntBE(payload.length, 0, 3);
  whole[3] = type;
  whole[4] = flags;
  whole.writeUInt32BE(stream, 5);
  whole.set(payload, HEAD_BYTES);
  return whole;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}

/** Headers as HPACK literals that no table keeps (RFC 7541, 6.2.2). Names and values are shorter than 127 bytes. */
function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}
