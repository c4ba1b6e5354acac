import { Code } from '@connectrpc/connect';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import type { ErrorKind, Json } from '#protocol';
import { A2AError, isObject } from '#protocol';
import { FRAME_HEAD_BYTES, framed } from '../framing.ts';
import type { GrpcStatus } from '../wire.ts';
import { readStatus, readTrailers, trailersFrame, writeStatus } from '../wire.ts';
import { connectError } from './connect-errors.ts';
import { statusOf } from './status.ts';

/** The answer to a call whose message no method has got, and its status. */
export interface Refusal {
  readonly answer: UniversalServerResponse;
  readonly code: number;
}

const TRAILERS_FLAG = 0x80;
const END_FLAG = 0x02;

/**
 * What Connect answers to a call that it refuses by itself, because of its headers or its bytes. Connect's errors have no details, and for
 * bytes that it can't read they are INTERNAL, as if the server had failed. They become errors of ours, with an `ErrorInfo`.
 */
export async function refusalOf(answer: UniversalServerResponse): Promise<Refusal> {
  const { trailer, body } = answer;
  const bytes = await whole(body);
  const ended = trailer === undefined ? undefined : readStatus((name) => trailer.get(name) ?? undefined);
  if (trailer !== undefined && ended !== undefined) {
    const status = withInfo(ended);
    for (const [name, value] of Object.entries(writeStatus(status))) trailer.set(name, value);
    return { answer: { ...answer, body: only(bytes) }, code: status.code };
  }
  const payload = bytes.subarray(FRAME_HEAD_BYTES);
  if (bytes[0] === TRAILERS_FLAG) {
    const trailers = readTrailers(payload);
    const status = withInfo(readStatus((name) => trailers.get(name)) ?? { code: Code.Internal, message: '' });
    const changed = new Map([...trailers, ...Object.entries(writeStatus(status))]);
    return { answer: { ...answer, body: only(trailersFrame(changed)) }, code: status.code };
  }
  if (bytes[0] === END_FLAG) {
    const { json, code } = withJsonInfo(payload, (end) => end['error']);
    const frame = framed([json]);
    frame[0] = END_FLAG;
    return { answer: { ...answer, body: only(frame) }, code };
  }
  const { json, code } = withJsonInfo(bytes, (error) => error);
  answer.header?.set('content-length', String(json.length));
  return { answer: { ...answer, status: httpStatus(answer.status, code), body: only(json) }, code };
}

const SERVER_ERROR = 500;

function httpStatus(status: number, code: number): number {
  return status === SERVER_ERROR && code === Code.InvalidArgument ? 400 : status;
}

/** The errors of Connect itself, by their status. */
const KINDS: Readonly<Record<number, ErrorKind>> = {
  [Code.InvalidArgument]: 'INVALID_REQUEST',
  [Code.ResourceExhausted]: 'PAYLOAD_TOO_LARGE',
  [Code.Unimplemented]: 'METHOD_NOT_FOUND',
  [Code.Internal]: 'INVALID_REQUEST',
};

/** The same status with an `ErrorInfo`, unless it has details already, or none of our errors has its code: a deadline has passed. */
function withInfo(status: GrpcStatus): GrpcStatus {
  const kind = KINDS[status.code];
  return status.details !== undefined || kind === undefined ? status : statusOf(new A2AError(kind, status.message));
}

/** The same for the JSON of Connect. `errorIn` finds the error in it. */
function withJsonInfo(
  bytes: Uint8Array,
  errorIn: (json: Record<string, unknown>) => unknown,
): { readonly json: Uint8Array; readonly code: number } {
  const json = parsed(bytes);
  const error = isObject(json) ? errorIn(json) : undefined;
  if (!isObject(error)) return { json: bytes, code: Code.InvalidArgument };
  const code = codeNamed(String(error['code']));
  const kind = KINDS[code];
  if (error['details'] !== undefined || kind === undefined) return { json: bytes, code };
  const { message } = error;
  const ours = connectError(typeof message === 'string' ? new A2AError(kind, message) : new A2AError(kind), {});
  Object.assign(error, { code: nameOf(ours.code), message: ours.rawMessage, details: jsonDetails(ours) });
  return { json: new TextEncoder().encode(JSON.stringify(json)), code: ours.code };
}

function jsonDetails({ details }: ReturnType<typeof connectError>): Json {
  return details.flatMap((detail) =>
    'type' in detail ? [{ type: detail.type, value: Buffer.from(detail.value).toString('base64').replaceAll('=', '') }] : [],
  );
}

/** Undefined for a compressed body, which is an error of ours: those of Connect are too short to be compressed. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** `invalid_argument` as Connect writes it. */
function nameOf(code: Code): string {
  return (Code[code] ?? '').replace(/(?!^)[A-Z]/g, '_$&').toLowerCase();
}

const CODES = new Map(Object.values(Code).flatMap((code) => (typeof code === 'number' ? [[nameOf(code), code] as const] : [])));

function codeNamed(name: string): number {
  return CODES.get(name) ?? Code.InvalidArgument;
}

/** The whole body of an error, which is small. */
async function whole(body: UniversalServerResponse['body']): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  if (bytes.length > 0) yield bytes;
}
