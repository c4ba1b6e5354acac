import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { within } from './deadline.ts';

export interface Load {
  readonly url: string;
  /** A request's body, with `ID_PLACE` in the place of the id. */
  readonly body: string;
  /** The `A2A-Version` header, if the dialect has one. */
  readonly version?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly ms: number;
}

/** As long as every id, so that an id can be written into the prepared bytes. */
export const ID_PLACE = 'id-000000000000';
const DIGITS = 12;

let sent = 0;

/** Returns a new id with the length of `ID_PLACE`. */
export function nextId(): string {
  sent += 1;
  return `id-${String(sent).padStart(DIGITS, '0')}`;
}

/**
 * A cheap client: raw sockets with one request at a time, prepared bytes, responses recognised by their length. Client and server share
 * the machine, so the processor time that the client saves is left to the server.
 */
export async function requestsPerSecond({ url, body, version: named, headers = {}, connections, ms }: Load): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const version = named === undefined ? '' : `A2A-Version: ${named}\r\n`;
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n${version}${more.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const sockets: Socket[] = [];
  const began = performance.now();
  const callers = Array.from({ length: connections }, () => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    sockets.push(socket);
    return callUntil(socket, Buffer.from(head + body), began + ms);
  });
  try {
    const counts = await within(ms + 10_000, `${connections} connections to ${url}`, Promise.all(callers));
    return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - began) / 1000);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function callUntil(socket: Socket, request: Buffer, until: number): Promise<number> {
  const place = request.indexOf(ID_PLACE) + ID_PLACE.length - DIGITS;
  const next = (): void => {
    sent += 1;
    for (let at = place + DIGITS - 1, left = sent; at >= place; at -= 1, left = Math.floor(left / 10)) request[at] = 0x30 + (left % 10);
    socket.write(Buffer.from(request)); // a copy, because the previous write may not be flushed yet
  };
  return new Promise((resolve, reject) => {
    let done = 0;
    let gathered: Buffer | undefined;
    socket.once('connect', next);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk: Buffer) => {
      const answer = gathered === undefined ? chunk : Buffer.concat([gathered, chunk]);
      gathered = answer;
      const length = lengthOf(answer);
      if (Number.isNaN(length)) return reject(new Error(`a response without Content-Length: ${answer.toString('utf8')}`));
      if (length === undefined || answer.length < length) return;
      gathered = undefined;
      if (!isWell(answer)) return reject(new Error(answer.toString('utf8')));
      done += 1;
      if (performance.now() < until) next();
      else resolve(done);
    });
  });
}

export interface Caller {
  get(path: string): Promise<{ readonly ms: number; readonly body: string }>;
  close(): void;
}

/** One connection that sends a request, waits, and returns the time. It avoids `fetch`, whose own cost matters at a millisecond. */
export async function openCaller(url: string): Promise<Caller> {
  const { host, port } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const get: Caller['get'] = (path) =>
    new Promise((resolve, reject) => {
      const began = performance.now();
      const pieces: Buffer[] = [];
      let [length, seen]: [number | undefined, number] = [undefined, 0];
      const take = (piece: Buffer): void => {
        pieces.push(piece);
        seen += piece.length;
        length ??= lengthOf(Buffer.concat(pieces));
        if (length === undefined || seen < length) return;
        const ms = performance.now() - began;
        socket.off('data', take).off('close', reject);
        const answer = Buffer.concat(pieces).toString('utf8');
        resolve({ ms, body: answer.slice(answer.indexOf('\r\n\r\n') + BLANK.length) });
      };
      socket.on('data', take).once('close', reject);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    });
  return { get, close: () => socket.destroy() };
}

const OK = Buffer.from('HTTP/1.1 200');
const ERROR = Buffer.from('"error"');
/** Most servers write it like this. Uvicorn writes it in lower case. */
const LENGTH = Buffer.from('Content-Length: ');
const LENGTH_SMALL = Buffer.from('content-length: ');
const BLANK = Buffer.from('\r\n\r\n');

function isWell(answer: Buffer): boolean {
  return answer.compare(OK, 0, OK.length, 0, OK.length) === 0 && !answer.includes(ERROR);
}

/** Bytes of the whole response, head and body. Undefined while the head is incomplete, NaN if it has no Content-Length. */
function lengthOf(answer: Buffer): number | undefined {
  const end = answer.indexOf(BLANK);
  if (end === -1) return undefined;
  const found = answer.indexOf(LENGTH);
  const at = found === -1 || found > end ? answer.indexOf(LENGTH_SMALL) : found;
  if (at === -1 || at > end) return Number.NaN;
  let length = 0;
  for (let digit = at + LENGTH.length; answer[digit] !== 0x0d; digit += 1) length = length * 10 + (answer[digit] as number) - 0x30;
  return end + BLANK.length + length;
}
