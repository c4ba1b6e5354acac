import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { raw, sendBody, startServer } from '../support/server.ts';

/** docs/faults.md H9, H10 and H11: headers that are too large or ambiguous, compressed bodies, and unexpected content types. */
let server: NodeServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const BODY = JSON.stringify(sendBody('x'));

describe('H9: heads', () => {
  const get = (lines: string, target = '/healthz'): string => `GET ${target} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`;
  const many = (count: number): string => Array.from({ length: count }, (_, at) => `X-${at}: y\r\n`).join('');

  const rows: readonly (readonly [name: string, bytes: string, status: number])[] = [
    ['that are well', get('Host: localhost\r\n'), 200],
    ['with a hundred headers', get(`Host: localhost\r\n${many(98)}`), 200],
    ['with more than a hundred', get(`Host: localhost\r\n${many(120)}`), 431],
    ['with more than Node counts', get(`Host: localhost\r\n${many(900)}`), 431],
    ['with a header of 20 KB', get(`Host: localhost\r\nX-Big: ${'x'.repeat(20_000)}\r\n`), 431],
    ['without a host', get(''), 400],
    ['with two hosts', get('Host: localhost\r\nHost: evil.example\r\n'), 400],
    ['with two hosts that agree', get('Host: localhost\r\nhost: localhost\r\n'), 400],
    ['with two authorizations', get('Host: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n'), 400],
    ['with two content types', get('Host: localhost\r\nContent-Type: application/json\r\ncontent-TYPE: text/plain\r\n'), 400],
    ['with two origins', get('Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n'), 400],
    ['for another host', get('Host: evil.example\r\n'), 403],
    ['for another host in the target', get('Host: localhost\r\n', 'http://evil.example/healthz'), 400],
    ['for our own host in the target', get('Host: localhost\r\n', 'http://localhost/healthz'), 400],
    ['for everything', `OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, 400],
    ['with two lengths', `POST /message:send HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, 400],
    [
      'with a length and chunks',
      `POST /message:send HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['with lines that end in LF alone', 'GET /healthz HTTP/1.1\nHost: localhost\n\n', 400],
    ['with a line folded over two', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n c\r\n\r\n', 400],
    ['with a space before the colon', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A : b\r\n\r\n', 400],
    ['with a NUL', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: b\u0000c\r\n\r\n', 400],
    ['of another protocol', 'PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n', 400],
    ['that are noise', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n', 400],
  ];
  for (const [name, bytes, status] of rows) {
    it(`${name}: ${status}`, async () => {
      const answer = await raw(server.port, Buffer.from(bytes, 'latin1'), { waitMs: 2000 });
      expect([answer.status, answer.text.match(/HTTP\/1\.1 /g)?.length]).toEqual([status, 1]);
    });
  }

  it('do not hide a second request behind the first', async () => {
    const smuggled =
      'POST /a2a HTTP/1.1\r\nHost: localhost\r\nHost: x\r\nContent-Length: 40\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const { text } = await raw(server.port, smuggled, { waitMs: 1000 });
    expect(text).toMatch(/^HTTP\/1\.1 400/);
    expect(text).not.toContain('parley_');
  });
});

describe('H10: compressed bodies', () => {
  const zeros = Buffer.alloc(20_000_000);
  const codings: Readonly<Record<string, Buffer>> = {
    gzip: gzipSync(zeros),
    br: brotliCompressSync(zeros),
    deflate: deflateSync(zeros),
    zstd: zstdCompressSync(zeros),
    'gzip, gzip': gzipSync(gzipSync(zeros)),
    'x-unknown': Buffer.from(BODY),
    GZIP: gzipSync(BODY),
  };
  for (const [coding, body] of Object.entries(codings)) {
    for (const path of ['/a2a', '/message:send']) {
      it(`in ${coding} are refused at ${path}`, async () => {
        const response = await fetch(`${server.url}${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Content-Encoding': coding },
          body: new Uint8Array(body),
        });
        expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      });
    }
  }

  it('with the coding identity are accepted', async () => {
    const response = await fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' },
      body: BODY,
    });
    expect(response.status).toBe(200);
  });
});

describe('H11: content types', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; x=application/json',
    'application/json; charset=utf-16',
    'application/jsonx',
    'application/xml',
    '',
  ];
  const send = async (path: string, type: string | undefined, body = BODY): Promise<Response> => {
    const line = type === undefined ? '' : `Content-Type: ${type}\r\n`;
    const { text } = await raw(
      server.port,
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${line}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const [head = '', content = ''] = text.split('\r\n\r\n');
    return new Response(content, { status: Number(/ (\d{3}) /.exec(head)?.[1]) });
  };
  const rpc = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sendBody('x') });

  for (const type of [...types, undefined]) {
    it(`${type ?? '(none)'} is refused`, async () => {
      expect((await send('/message:send', type)).status).toBe(415);
      const answer = await send('/a2a', type, rpc);
      expect(await answer.json()).toMatchObject({ error: { code: -32005 } });
    });
  }
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/a2a+json',
  ]) {
    it(`${type} is accepted`, async () => {
      expect((await send('/message:send', type)).status).toBe(200);
    });
  }
});
