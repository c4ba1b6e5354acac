import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { expectFigure } from '../support/figures.ts';
import { parleyServe } from '../support/parley.ts';
import { metric, opened, raw, sendBody, startServer } from '../support/server.ts';

/** docs/faults.md H7 and H8: requests that never end, and bodies that are too large or differ from their Content-Length. */
describe('H7: requests that arrive byte by byte', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  const drip = async (head: string, drop: string): Promise<{ readonly ms: number; readonly text: string }> => {
    const socket = await opened(server.port);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    const began = performance.now();
    socket.write(head);
    const timer = setInterval(() => socket.write(drop), 300);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    clearInterval(timer);
    return { ms: performance.now() - began, text };
  };

  it('are disconnected, headers after 5 s and bodies after 10 s, and others are served meanwhile', async () => {
    const [header, body] = [
      drip('POST /a2a HTTP/1.1\r\nHost: localhost\r\n', 'X-A: b\r\n'),
      drip('POST /a2a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n', ' '),
    ];
    const idle = Array.from({ length: 50 }, () => drip('POST /a2a HTTP/1.1\r\nHost: localhost\r\n', 'X-A: b\r\n'));
    const took: number[] = [];
    for (let at = 0; at < 30; at += 1) {
      const began = performance.now();
      await (await fetch(`${server.url}/healthz`)).text();
      took.push(performance.now() - began);
    }
    expectFigure(took.sort((a, b) => a - b)[28] ?? 0, { below: 100 });
    expectFigure((await header).ms, { below: 7000 });
    expect((await header).text).toMatch(/^HTTP\/1\.1 408/);
    expectFigure((await body).ms, { above: 5000 });
    expectFigure((await body).ms, { below: 12_000 });
    expect((await body).text).toMatch(/^HTTP\/1\.1 408/);
    await Promise.all(idle);
  });
});

describe('H8: bodies', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer({ limits: { requestMsMax: 1500 } });
  });
  afterAll(() => server.close());
  const head = (more: string, path = '/a2a'): string =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n`;
  const tasks = async (): Promise<number> => ((await (await fetch(`${server.url}/tasks`)).json()) as { totalSize: number }).totalSize;

  for (const path of ['/a2a', '/message:send', '/agents/echo/a2a', '/v1/message:send']) {
    it(`with a Content-Length above the limit are refused before they arrive (${path})`, async () => {
      const { status, text, ms } = await raw(server.port, head('Content-Length: 1048577\r\n', path));
      expect(status).toBe(413);
      expect(text).toMatch(/connection: close/i);
      expectFigure(ms, { below: 1200 });
    });
  }

  it('that arrive after the refusal are read and dropped, so that their sender gets the response', async () => {
    const own = await parleyServe({ args: ['script', '--memory'] }); // in its own process, so that sender and server run at the same time
    const piece = 'x'.repeat(65_536);
    for (const length of [`Content-Length: ${46 * piece.length}\r\n`, 'Transfer-Encoding: chunked\r\n']) {
      const sent = length.startsWith('Content') ? piece : `10000\r\n${piece}\r\n`;
      const answers = Array.from({ length: 10 }, () => spoken(own.port, [head(length), ...Array<string>(46).fill(sent)]));
      expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 413 Payload Too Large']));
    }
    expect(await own.stop()).toBe(0);
  });

  it('without end are not read for ever', async () => {
    const socket = await opened(server.port);
    const began = performance.now();
    socket.resume().write(head('Content-Length: 99999999\r\n'));
    const timer = setInterval(() => socket.write('x'), 100);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    clearInterval(timer);
    expectFigure(performance.now() - began, { below: 3500 });
    const flood = await raw(server.port, head('Content-Length: 200000000\r\n') + 'x'.repeat(100_000_000));
    expectFigure(flood.ms, { below: 4000 });
  });

  it('without a Content-Length are refused at the limit, and memory does not grow', async () => {
    const before = process.memoryUsage.rss();
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => raw(server.port, head('Transfer-Encoding: chunked\r\n') + chunk.repeat(320))),
    );
    // The response is lost if the sender still sends when the server stops discarding, which happens on a busy machine.
    const heard = answers.filter(({ text }) => text !== '');
    expect(heard.length).toBeGreaterThan(0);
    for (const { status, text } of heard) expect([status, /connection: close/i.test(text)]).toEqual([413, true]);
    // The test also holds what it sends. 160 MiB arrived, and at most 1 MiB of each body was kept.
    expectFigure((process.memoryUsage.rss() - before) / 2 ** 20, { below: 500 });
  });

  it('at the limit are accepted', async () => {
    const text = 'x'.repeat(1_048_576 - JSON.stringify(sendBody('')).length - 10);
    const response = await fetch(`${server.url}/agents/echo/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(sendBody(text)),
    });
    expect(response.status).toBe(200);
  });

  it('shorter than their Content-Length are refused after the timeout, and create nothing', async () => {
    const before = await tasks();
    const body = JSON.stringify(sendBody('x'));
    const { status, ms } = await raw(server.port, head(`Content-Length: ${body.length + 10}\r\n`, '/message:send') + body);
    expect(status).toBe(408);
    expectFigure(ms, { below: 3500 });
    const socket = await opened(server.port);
    socket.end(head(`Content-Length: ${body.length + 10}\r\n`, '/message:send') + body);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()).resume());
    expect(await tasks()).toBe(before);
  });

  it('longer than their Content-Length do not run into the next request', async () => {
    const body = JSON.stringify(sendBody('x'));
    const { text } = await raw(
      server.port,
      `${head(`Content-Length: ${body.length}\r\nConnection: close\r\n`, '/message:send') + body}GET /healthz`,
    );
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(text).not.toContain('"ok"');
  });

  it('get 100 Continue if they expect it, unless the request is refused', async () => {
    const body = JSON.stringify(sendBody('x'));
    const asks = `Expect: 100-continue\r\nConnection: close\r\n`;
    const good = await raw(server.port, head(`Content-Length: ${body.length}\r\n${asks}`, '/message:send') + body);
    expect(good.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
    const large = await raw(server.port, head(`Content-Length: 9999999\r\n${asks}`, '/message:send'));
    expect(large.text).toMatch(/^HTTP\/1\.1 413/);
  });

  it('leave no open connections', async () => {
    expect(await metric(server.url, 'parley_streams_open')).toBe(0);
  });
});

/** Sends everything before it reads, as many clients do, and returns the first line of the response. */
async function spoken(port: number, pieces: readonly string[]): Promise<string> {
  const socket = await opened(port);
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await new Promise<void>((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())));
  return text.split('\r\n')[0] ?? '';
}
