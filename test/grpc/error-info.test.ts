import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { ErrorInfoSchema, StatusSchema } from '../../src/bindings/grpc/adapters/generated/google_rpc_pb.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import { readStatus, readTrailers } from '../../src/bindings/grpc/wire.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { sendBody, startServer } from '../support/server.ts';

/** Errors of calls that reach no method of ours: our own road answers some, and Connect the others. All have an `ErrorInfo`. */
let server: NodeServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  server = await startServer();
  session = connect(server.url);
});

afterAll(async () => {
  session.destroy();
  await server.close();
});

const UNARY = '/lf.a2a.v1.A2AService/SendMessage';
const STREAM = '/lf.a2a.v1.A2AService/SendStreamingMessage';

interface Kind {
  readonly type: string;
  readonly path: string;
  readonly isFramed: boolean;
}

const kind = (type: string, path: string, isFramed = true): Kind => ({ type, path, isFramed });
const KINDS: readonly Kind[] = [
  kind('application/json', UNARY, false),
  kind('application/proto', UNARY, false),
  kind('application/connect+json', STREAM),
  kind('application/connect+proto', STREAM),
  ...['grpc', 'grpc+json', 'grpc-web+proto', 'grpc-web+json'].flatMap((type) => [
    kind(`application/${type}`, UNARY),
    kind(`application/${type}`, STREAM),
  ]),
];

interface Ended {
  readonly code: number | string;
  readonly message: string;
  readonly reasons: readonly (readonly [string, string])[];
  readonly http: number;
}

type Headers = Readonly<Record<string, string>>;

/** Sends any bytes, and reads the status in whichever place the protocol has for it. */
async function call({ type, path }: Kind, body: Uint8Array, headers: Headers = {}): Promise<Ended> {
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, ...headers });
  const pieces: Buffer[] = [];
  let trailers: Record<string, unknown> = {};
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('trailers', (received) => (trailers = received));
  stream.end(body);
  const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
  await once(stream, 'close');
  const answer = Buffer.concat(pieces);
  const http = Number(head[':status']);
  if (type.startsWith('application/grpc')) {
    const found = answer[0] === 0x80 ? Object.fromEntries(readTrailers(answer.subarray(5))) : { ...head, ...trailers };
    const status = readStatus((name) => found[name] as string | undefined);
    const details = status?.details === undefined ? [] : fromBinary(StatusSchema, status.details).details;
    const infos = details.flatMap((detail) => anyUnpack(detail, ErrorInfoSchema) ?? []);
    return { code: status?.code ?? 'none', message: status?.message ?? '', reasons: infos.map(reasonOf), http };
  }
  const json = JSON.parse((answer[0] === 2 ? answer.subarray(5) : answer).toString());
  const { code, message, details = [] } = answer[0] === 2 ? json.error : json;
  const infos = details.map(({ value }: { value: string }) => fromBinary(ErrorInfoSchema, Buffer.from(value, 'base64')));
  return { code, message, reasons: infos.slice(0, 1).map(reasonOf), http };
}

const reasonOf = ({ reason, domain }: { readonly reason: string; readonly domain: string }) => [reason, domain] as const;

const ours = (reason: string) => [[reason, 'a2a-protocol.org']];
const INVALID = { codes: [3, 'invalid_argument'], reasons: ours('INVALID_REQUEST'), http: [200, 400] };
const TOO_LARGE = { codes: [8, 'resource_exhausted'], reasons: ours('INVALID_REQUEST'), http: [200, 429] };
const UNIMPLEMENTED = { codes: [12, 'unimplemented'], reasons: ours('METHOD_NOT_FOUND'), http: [200, 501] };
const UNKNOWN = { ...UNIMPLEMENTED, http: [200, 404] };

function expectEnd({ code, reasons, http }: Ended, expected: typeof INVALID): void {
  expect(reasons).toEqual(expected.reasons);
  expect(expected.codes).toContain(code);
  expect(expected.http).toContain(http);
}

const isJson = ({ type }: Kind): boolean => type.includes('json');
const messageOf = (each: Kind, text = 'hello'): Uint8Array =>
  isJson(each)
    ? Buffer.from(JSON.stringify(sendBody(text)))
    : CODEC_V10.encodeRequest('send', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] } } as never);
const bodyOf = (each: Kind, message: Uint8Array): Uint8Array => (each.isFramed ? framed([message]) : message);
const encodingOf = ({ type, isFramed }: Kind): string =>
  !isFramed ? 'content-encoding' : type.includes('connect') ? 'connect-content-encoding' : 'grpc-encoding';
const timeoutOf = ({ type }: Kind): string => (type.includes('grpc') ? 'grpc-timeout' : 'connect-timeout-ms');
/** A frame with any flags. */
function flagged(each: Kind, flags: number, message = messageOf(each)): Uint8Array {
  const frame = framed([message]);
  frame[0] = flags;
  return frame;
}

describe.each(KINDS)('$type $path', (each) => {
  it('a timeout that is none', async () => {
    expectEnd(await call(each, bodyOf(each, messageOf(each)), { [timeoutOf(each)]: 'soon' }), INVALID);
  });

  it('an encoding that is unknown, also a long one', async () => {
    for (const encoding of ['zip', 'z'.repeat(3000)]) {
      const accepted = Object.fromEntries(
        ['accept-encoding', 'connect-accept-encoding', 'grpc-accept-encoding'].map((name) => [name, 'gzip']),
      );
      expectEnd(await call(each, bodyOf(each, messageOf(each)), { [encodingOf(each)]: encoding, ...accepted }), UNIMPLEMENTED);
    }
  });

  it('bytes that are no message, and none at all where a message is needed', async () => {
    expectEnd(await call(each, bodyOf(each, Buffer.from([0xff, 0xff, 0xff]))), INVALID);
    expectEnd(await call(each, bodyOf(each, Buffer.from('['))), INVALID);
  });

  it('a message over the limit, also after it is decompressed', async () => {
    expectEnd(await call(each, bodyOf(each, messageOf(each, 'x'.repeat(1_048_576)))), TOO_LARGE);
    const zipped = gzipSync(messageOf(each, 'x'.repeat(1_500_000)));
    expectEnd(await call(each, each.isFramed ? flagged(each, 1, zipped) : zipped, { [encodingOf(each)]: 'gzip' }), TOO_LARGE);
  });

  it('bytes that are not compressed, or not completely', async () => {
    const zipped = gzipSync(messageOf(each));
    for (const bytes of [messageOf(each), zipped.subarray(0, zipped.length - 9)])
      expectEnd(await call(each, each.isFramed ? flagged(each, 1, bytes) : bytes, { [encodingOf(each)]: 'gzip' }), INVALID);
  });

  it('an unknown method', async () => {
    const path = '/lf.a2a.v1.A2AService/Nope';
    const ended = await call({ ...each, path }, bodyOf(each, messageOf(each)));
    expectEnd(ended, UNKNOWN);
    expect(ended.message).toBe(`unknown method ${path}`);
  });
});

describe.each(KINDS.filter(({ isFramed }) => isFramed))('$type $path', (each) => {
  it('frames that are none, that are cut off, too many or too few', async () => {
    const frame = bodyOf(each, messageOf(each));
    expectEnd(await call(each, flagged(each, 1)), INVALID); // compressed, but not how
    expectEnd(await call(each, frame.subarray(0, 20)), INVALID);
    expectEnd(await call(each, Buffer.concat([frame, frame])), UNIMPLEMENTED);
    expectEnd(await call(each, Buffer.alloc(0)), UNIMPLEMENTED);
  });

  it('flags that are reserved, or for responses only', async () => {
    for (const flags of [0x02, 0x03, 0x04, 0x40, 0x80, 0x81, 0xff]) {
      const ended = await call(each, flagged(each, flags));
      expectEnd(ended, INVALID);
      expect(ended.message).toContain(`the flags 0x${flags.toString(16).padStart(2, '0')};`);
    }
  });
});

it('counts such calls by their status', async () => {
  const count = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^parley_http_requests_total\{route="grpc",status="grpc UNIMPLEMENTED"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const before = await count();
  const path = '/lf.a2a.v1.A2AService/Nope';
  await call(kind('application/json', path, false), Buffer.from('{}'));
  await call(kind('application/connect+json', path), Buffer.alloc(0));
  expect(await count()).toBe(before + 2);
});

it('a long error of Connect has its details also where answers are compressed', async () => {
  const list = kind('application/json', '/lf.a2a.v1.A2AService/ListTasks', false);
  const body = Buffer.from(JSON.stringify({ statusTimestampAfter: 'x'.repeat(5000) }));
  expectEnd(await call(list, body, { 'accept-encoding': 'gzip' }), INVALID);
});
