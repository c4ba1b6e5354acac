import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { within } from './deadline.ts';

export interface Load {
  readonly url: string;
  /** A request's body, with `ID_PLACE` in the place of the id. Several: one for each connection, in turns. */
  readonly body: string | readonly string[];
  /** The `A2A-Version` header, if the dialect has one. */
  readonly version?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each request has its id as its Idempotency-Key, too. */
  readonly keyed?: boolean;
  readonly connections: number;
  readonly ms: number;
}

/** What a load has measured. */
export interface Loaded {
  readonly perSecond: number;
  readonly count: number;
  /** How long each request took. */
  readonly tookMs: readonly number[];
}

/** As long as every id, so that an id can be written into the prepared bytes. */
export const ID_PLACE = 'id-000000000000';
const DIGITS = 12;
const WARM_UP_MS = 500;

let sent = 0;

/** For one of several client processes: their ids must differ. */
export function startIdsAt(first: number): void {
  sent = first;
}

/** Returns a new id with the length of `ID_PLACE`. */
export function nextId(): string {
  sent += 1;
  return `id-${String(sent).padStart(DIGITS, '0')}`;
}

/** The place of the id's digits in prepared bytes. */
export function placeOfId(bytes: Buffer): number {
  return bytes.indexOf(ID_PLACE) + ID_PLACE.length - DIGITS;
}

/** Writes a new id into prepared bytes. */
export function writeNextId(bytes: Buffer, place: number): void {
  sent += 1;
  for (let at = place + DIGITS - 1, left = sent; at >= place; at -= 1, left = Math.floor(left / 10)) bytes[at] = 0x30 + (left % 10);
}

/**
 * A cheap client: raw sockets with one request at a time, prepared bytes, responses recognised by their length. Client and server share
 * the machine, so the processor time that the client saves is left to the server.
 */
export async function requestsPerSecond(load: Load): Promise<number> {
  return (await runLoad(load)).perSecond;
}

/** The same, with how long each request took. */
export async function runLoad({ url, body, version: named, headers = {}, keyed = false, connections, ms }: Load): Promise<Loaded> {
  const bodies = [body].flat();
  const { hostname, port, pathname } = new URL(url);
  const version = named === undefined ? '' : `A2A-Version: ${named}\r\n`;
  const more = Object.entries(keyed ? { ...headers, 'Idempotency-Key': ID_PLACE } : headers).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const headOf = (text: string): string =>
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n${version}${more.join('')}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
  const sockets: Socket[] = [];
  const began = performance.now();
  const tookMs: number[] = [];
  const callers = Array.from({ length: connections }, (_, at) => {
    const text = bodies[at % bodies.length] ?? '';
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    sockets.push(socket);
    return callUntil(socket, Buffer.from(headOf(text) + text), { until: began + ms, tookMs });
  });
  try {
    const counts = await within(ms + 10_000, `${connections} connections to ${url}`, Promise.all(callers));
    const count = counts.reduce((sum, each) => sum + each, 0);
    return { count, perSecond: count / ((performance.now() - began) / 1000), tookMs };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Sends requests until so many are answered. By number and not by time: V8 compiles what has run often, so a slow machine warms up later. */
export async function sendUntilWarm(load: Omit<Load, 'ms'>, requests: number): Promise<void> {
  for (let left = requests; left > 0; ) left -= (await runLoad({ ...load, ms: WARM_UP_MS })).count;
}

interface Calling {
  readonly until: number;
  readonly tookMs: number[];
}

function callUntil(socket: Socket, request: Buffer, { until, tookMs }: Calling): Promise<number> {
  const place = placeOfId(request);
  const inBody = request.lastIndexOf(ID_PLACE) + ID_PLACE.length - DIGITS;
  let sentAt = 0;
  const next = (): void => {
    writeNextId(request, place);
    if (inBody !== place) request.copy(request, inBody, place, place + DIGITS);
    sentAt = performance.now();
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
      tookMs.push(performance.now() - sentAt);
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
