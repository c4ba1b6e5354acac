import { mutate } from './mutate.ts';

type Random = () => number;

/** A valid request, before it is malformed. */
export interface Wire {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

const pick = <T>(from: readonly T[], random: Random): T => from[Math.floor(random() * from.length)] as T;

const TARGETS = [
  ...[
    '*',
    '//',
    '/%',
    '/%00',
    '/%zz',
    '/..',
    '/../../etc/passwd',
    '/%2e%2e%2f',
    '/\u0000',
    '/a b',
    'http://evil.example/',
    'evil.example:443',
  ],
  ...[
    '/?',
    '/?a=%',
    '/#x',
    '/tasks?pageSize=-1',
    '/tasks?pageSize=1e9',
    '/tasks?pageToken=%00',
    '/tasks/%ff',
    '/tasks/:cancel',
    '/agents//a2a',
  ],
  ...[
    '/agents/%65cho/a2a',
    '/agents/__proto__/a2a',
    '/agents/constructor',
    '/v1/models/%',
    '/v1/models/toString',
    '/mcp/',
    '/MCP',
    '/a2a/jsonrpc/x',
  ],
  ...[
    '/api/parley/v1/tasks/%',
    '/api/parley/v1/tasks?agent=%',
    '/api/parley/v1/audit?after=x',
    '/api/parley/v1/push/deliveries?state=x',
    '/console/..%2f',
  ],
  `/${'x'.repeat(5000)}`,
  `/${'a/'.repeat(2000)}`,
  `/tasks?${'a=1&'.repeat(2000)}`,
];
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'get',
  'G\u0000T',
  'POST POST',
  '',
  'X'.repeat(300),
  'PRI',
];
const VERSIONS = ['HTTP/1.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/1.1 ', 'http/1.1', 'HTTP/', 'HTTPS/1.1', ''];
const VALUES = [
  ...[
    '',
    ' ',
    '\u0000',
    '\u007f',
    'ÿþ',
    '-1',
    '1e9',
    '0x10',
    '99999999999999999999',
    '*',
    ',',
    ';;;',
    '"',
    'a, b',
    '\t',
    'null',
    '{}',
    '%00',
  ],
  ...[
    'application/json; charset=utf-16',
    'text/plain',
    'chunked',
    'gzip',
    'chunked, gzip',
    'identity',
    'websocket',
    'h2c',
    '100-continue',
    '200-ok',
  ],
  ...[
    '127.0.0.1:99999',
    '127.0.0.1:',
    '[::1',
    'localhost:x',
    'Bearer',
    'Bearer  ',
    'Basic x',
    'Bearer a.b.c',
    '9.9',
    '1.0, 0.3',
    '0',
    'bytes=0-',
  ],
  'v'.repeat(9000),
];
const NAMES = [
  ...[
    'Host',
    'Origin',
    'Authorization',
    'Content-Type',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Expect',
    'Upgrade',
    'Accept',
    'Range',
  ],
  ...[
    'A2A-Version',
    'A2A-Extensions',
    'Last-Event-ID',
    'Idempotency-Key',
    'Traceparent',
    'If-None-Match',
    'Mcp-Session-Id',
    'Mcp-Protocol-Version',
  ],
  ...[
    'X-Forwarded-For',
    'Sec-Fetch-Site',
    'Content-Encoding',
    'Access-Control-Request-Method',
    'X-API-Key',
    'Bad Name',
    'Bad:Name',
    '',
    'X'.repeat(300),
  ],
];
const GARBAGE = [
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000',
  '\r\n\r\n\r\n',
  '\u0000'.repeat(100),
  'GET /\r\n\r\n',
  'GET / HTTP/1.1\n\n',
  'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n',
  'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel',
  'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n folded: x\r\n\r\n',
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage"}\n',
];

/** The bytes of a request with something wrong: on some layer, or on several. A tenth is no HTTP at all. */
export function malformed(seeds: readonly Wire[], random: Random): Buffer {
  const sort = random();
  if (sort < 0.05) return Buffer.from(Array.from({ length: Math.ceil(random() * 400) }, () => Math.floor(random() * 256)));
  if (sort < 0.1) return Buffer.from(pick(GARBAGE, random), 'latin1');
  let { method, target, headers, body } = pick(seeds, random);
  let version = 'HTTP/1.1';
  let bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body);
  for (let left = 1 + Math.floor(random() * 3); left > 0; left -= 1) {
    const layer = random();
    if (layer < 0.45 && body !== undefined) bytes = Buffer.from(mutate(Buffer.from(body), random));
    else if (layer < 0.6) target = random() < 0.5 ? pick(TARGETS, random) : bent(target, random);
    else if (layer < 0.67) method = pick(METHODS, random);
    else if (layer < 0.7) version = pick(VERSIONS, random);
    else headers = withWrong(headers, random);
  }
  const framed = framing(bytes, random);
  const lines = [`${method} ${target} ${version}`, ...[...headers, ...framed.headers].map(([name, value]) => `${name}: ${value}`)];
  const whole = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), framed.bytes]);
  if (random() < 0.03) whole[Math.floor(random() * whole.length)] = Math.floor(random() * 256);
  return random() < 0.03 ? whole.subarray(0, Math.floor(random() * whole.length)) : whole;
}

function bent(target: string, random: Random): string {
  const at = Math.floor(random() * (target.length + 1));
  return (
    target.slice(0, at) +
    pick(['%', '%2f', '/', '//', '.', '..', ':', '?', '&', '%00', '\u00e9', '%f0%9f', '__proto__', 'x'.repeat(200)], random) +
    target.slice(at)
  );
}

function withWrong(headers: Wire['headers'], random: Random): Wire['headers'] {
  const at = Math.floor(random() * headers.length);
  const sort = random();
  if (sort < 0.25) return headers.filter((_, each) => each !== at);
  if (sort < 0.5) return headers.map((header, each) => (each === at ? [header[0], pick(VALUES, random)] : header));
  if (sort < 0.6) return [...headers, headers[at] ?? ['Host', 'x']];
  if (sort < 0.63) return [...headers, ...Array.from({ length: 150 }, (_, each): readonly [string, string] => [`X-${each}`, 'y'])];
  return [...headers, [pick(NAMES, random), pick(VALUES, random)]];
}

interface Framed {
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: Buffer;
}

/** The declared length of the body: usually its real length. */
function framing(bytes: Buffer, random: Random): Framed {
  const sort = random();
  if (sort < 0.85) return { headers: bytes.length === 0 ? [] : [['Content-Length', String(bytes.length)]], bytes };
  if (sort < 0.9) {
    const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')]);
    return { headers: [['Transfer-Encoding', 'chunked']], bytes: random() < 0.5 ? chunk : chunk.subarray(0, -Math.ceil(random() * 8)) };
  }
  return {
    headers: [['Content-Length', pick(['0', '-1', '1', '+5', '1e3', String(bytes.length + 10), '99999999', '0x5', '5, 5', ''], random)]],
    bytes,
  };
}
