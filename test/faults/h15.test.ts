import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import { parleyServe } from '../support/parley.ts';
import { handlerOf, jsonRequest, metric, rpcSend, sendBody } from '../support/server.ts';
import type { RawStream } from '../support/sse.ts';
import { rawStream } from '../support/sse.ts';

/** docs/faults.md H15: when file descriptors or memory run short, new streams are refused before everything fails; then the server recovers. */
suiteNeeding('prlimit (util-linux)', existsSync('/usr/bin/prlimit'), 'H15: a server with few file descriptors left', () => {
  it('refuses streams with 503, serves short calls, and recovers', async () => {
    const server = await parleyServe({ args: ['script', '--memory'], before: ['/usr/bin/prlimit', '--nofile=256'] });
    const open: RawStream[] = [];
    for (let at = 0; at < 260; at += 1) open.push(await rawStream(server.port, { path: '/message:stream', body: sendBody('sleep=60000') }));
    const heads = (): readonly string[] =>
      open.map(({ text, socket }) => (text() !== '' ? 'stream' : socket.destroyed ? 'closed' : 'none'));
    await eventually(() => heads().filter((head) => head === 'stream').length >= 172);
    const streams = heads().filter((head) => head === 'stream').length;
    // 256 file descriptors less a reserve of 64; nine in ten of the rest are for streams.
    expect(streams).toBeGreaterThanOrEqual(165);
    expect(streams).toBeLessThanOrEqual(175);
    for (const stream of open.filter((_, at) => heads()[at] !== 'stream')) stream.break();
    await eventually(async () => (await fetch(`${server.url}/healthz`).catch(() => undefined))?.status === 200);
    const refused = await fetch(`${server.url}/message:stream`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(sendBody('x')),
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    const short = await fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(sendBody('x')),
    });
    expect(short.status).toBe(200);
    expect(await metric(server.url, 'parley_calls_refused_total')).toBeGreaterThan(0);
    for (const stream of open) stream.break();
    await eventually(async () => (await metric(server.url, 'parley_streams_open')) === 0);
    const again = await rawStream(server.port, { path: '/message:stream', body: sendBody('chunks=1') });
    await again.closed;
    expect(again.text()).toContain('TASK_STATE_COMPLETED');
    server.process.kill('SIGKILL');
    await server.ended;
  });
});

describe('H15: a server with little memory left', () => {
  it('refuses new work with 503, and serves reads', async () => {
    let isOverloaded = true;
    const handler = handlerOf({ isOverloaded: () => isOverloaded });
    const call = (method: string): Promise<Response> => handler.fetch(jsonRequest('http://localhost/a2a', rpcSend('x', method)));
    expect(await (await call('SendStreamingMessage')).json()).toMatchObject({ error: { code: -31503 } });
    expect(await (await call('SendMessage')).json()).toMatchObject({ error: { code: -31503 } });
    expect(await (await call('ListTasks')).json()).toMatchObject({ result: { tasks: [] } });
    isOverloaded = false;
    expect(await (await call('SendStreamingMessage')).text()).toContain('TASK_STATE_COMPLETED');
    await handler.close();
  });

  it('notices it as a real process, and survives', async () => {
    const server = await parleyServe({
      args: ['script', '--memory', '--limit', 'taskBytesMax=2000000000'],
      node: ['--max-old-space-size=128'],
    });
    const { url } = server;
    const send = (text: string): Promise<Response> =>
      fetch(`${url}/message:send`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(sendBody(text)),
      });
    let status = 200;
    // Finished tasks are kept, so each fills some of the heap. Many small chunks fill more of it than a few large ones.
    for (let at = 0; at < 400 && status === 200; at += 1) {
      const response = await send('chunks=1000 size=800');
      status = response.status;
      await response.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/tasks?pageSize=1`)).status).toBe(200);
    server.process.kill('SIGKILL');
    await server.ended;
  });
});
