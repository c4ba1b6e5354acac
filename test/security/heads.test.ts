import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { raw, startServer } from '../support/server.ts';

/** docs/faults.md, S4, over raw sockets: what a web page can make a browser send to an open node on loopback. */
let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ allowedOrigins: ['https://app.example.org'] });
});
afterAll(() => server.close());

const SEND = '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}';
const ask = async (method: string, path: string, lines: readonly string[], body = ''): Promise<{ status: number; text: string }> => {
  const host = lines.some((line) => /^host:/i.test(line)) ? [] : [`Host: localhost:${server.port}`];
  const length = body === '' ? [] : [`Content-Length: ${body.length}`];
  return await raw(
    server.port,
    `${[`${method} ${path} HTTP/1.1`, ...host, 'Connection: close', ...length, ...lines].join('\r\n')}\r\n\r\n${body}`,
  );
};
const JSON_BODY = 'Content-Type: application/json';

describe('a page of another origin', () => {
  const forged: readonly (readonly [name: string, lines: readonly string[], body?: string])[] = [
    ['fetch with JSON', ['Origin: https://evil.example', 'Sec-Fetch-Site: cross-site', JSON_BODY], SEND],
    ['fetch without a type', ['Origin: https://evil.example'], SEND],
    ['a form', ['Origin: https://evil.example', 'Content-Type: text/plain'], SEND],
    ['a sandboxed frame', ['Origin: null', JSON_BODY], SEND],
    ['a page of another port', ['Origin: http://localhost:3000', 'Sec-Fetch-Site: same-site', JSON_BODY], SEND],
    ['a page whose name begins like an allowed one', ['Origin: https://app.example.org.evil.example', JSON_BODY], SEND],
    ['an allowed page over http', ['Origin: http://app.example.org', JSON_BODY], SEND],
    ['an extension', ['Origin: chrome-extension://abcdefghijklmnop', JSON_BODY], SEND],
    ['a rebound name', ['Host: evil.example:80', 'Origin: http://evil.example:80', JSON_BODY], SEND],
    ['a rebound name without an origin', ['Host: evil.example', JSON_BODY], SEND],
    ['0.0.0.0', ['Host: 0.0.0.0:41242', JSON_BODY], SEND],
    ['no origin, from another site', ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors', JSON_BODY], SEND],
    ['no origin, from another port', ['Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: no-cors', JSON_BODY], SEND],
  ];
  for (const [name, lines, body] of forged) {
    it(`is refused: ${name}`, async () => {
      for (const path of ['/message:send', '/a2a', '/agents/echo/a2a', '/tasks/x:cancel']) {
        const { status, text } = await ask('POST', path, lines, body);
        expect([path, status, /access-control-allow-origin/i.test(text)]).toEqual([path, 403, false]);
      }
    });
  }

  it('is refused with GET: images, frames, scripts, event sources', async () => {
    for (const dest of ['image', 'iframe', 'script', 'empty']) {
      const lines = [
        'Sec-Fetch-Site: cross-site',
        `Sec-Fetch-Mode: ${dest === 'iframe' ? 'navigate' : 'no-cors'}`,
        `Sec-Fetch-Dest: ${dest}`,
      ];
      for (const path of ['/tasks', '/.well-known/agent-card.json', '/', '/api/parley/v1/tasks', '/metrics'])
        expect([dest, path, (await ask('GET', path, lines)).status]).toEqual([dest, path, 403]);
    }
  });

  it('may link to public routes only', async () => {
    const link = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
    expect([(await ask('GET', '/', link)).status, (await ask('GET', '/tasks', link)).status]).toEqual([200, 403]);
  });

  it('is refused in its CORS preflight', async () => {
    const lines = (origin: string): readonly string[] => [
      `Origin: ${origin}`,
      'Access-Control-Request-Method: POST',
      'Access-Control-Request-Private-Network: true',
    ];
    expect((await ask('OPTIONS', '/a2a', lines('https://evil.example'))).status).toBe(403);
    const allowed = await ask('OPTIONS', '/a2a', lines('https://app.example.org'));
    expect([
      allowed.status,
      /access-control-allow-origin: https:\/\/app\.example\.org/i.test(allowed.text),
      /credentials/i.test(allowed.text),
    ]).toEqual([204, true, false]);
  });
});

describe('allowed callers', () => {
  it('are programs, pages of the node, and pages of allowed origins', async () => {
    for (const lines of [
      [],
      ['Sec-Fetch-Site: none'],
      [`Origin: http://localhost:${server.port}`, 'Sec-Fetch-Site: same-origin'],
      ['Origin: https://app.example.org', 'Sec-Fetch-Site: cross-site'],
    ])
      expect((await ask('POST', '/message:send', [JSON_BODY, ...lines], SEND)).status).toBe(200);
  });
});

describe('a protocol upgrade', () => {
  it('is refused', async () => {
    for (const upgrade of ['websocket', 'WebSocket', 'h2', 'h2c, websocket', 'tls/1.2']) {
      for (const path of ['/', '/a2a', '/console/', '/nothing']) {
        const { status } = await raw(
          server.port,
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
          { waitMs: 1000 },
        );
        expect([upgrade, path, status]).toEqual([upgrade, path, 400]);
      }
    }
  });

  it('to h2c, which Java clients offer by default, is ignored and served over HTTP/1.1', async () => {
    const { status } = await ask('GET', '/healthz', ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']);
    expect(status).toBe(200);
  });
});
