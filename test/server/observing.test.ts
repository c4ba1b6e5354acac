import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogLevel } from '#server';
import { createLog } from '#server';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { handlerOf, jsonRequest, metric, rpcSend, sendBody, startServer } from '../support/server.ts';

const lines: string[] = [];
const logging = (level: LogLevel) => createLog({ level, write: (line) => lines.push(line) });

describe('metrics', () => {
  let server: NodeServer;
  beforeAll(async () => {
    server = await startServer();
    const post = (path: string, body: unknown): Promise<Response> =>
      fetch(`${server.url}${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    await (await post('/message:send', sendBody('chunks=3'))).text();
    await (await post('/message:stream', sendBody('chunks=3'))).text();
    await (await post('/agents/echo/a2a', rpcSend('x'))).text();
    await (
      await post('/', {
        jsonrpc: '2.0',
        id: 't',
        method: 'tasks/send',
        params: { id: 't', message: { role: 'user', parts: [{ type: 'text', text: 'x' }] } },
      })
    ).text();
    await (await fetch(`${server.url}/tasks/none`)).text();
    await (await fetch(`${server.url}/nothing`)).text();
  });
  afterAll(() => server.close());

  it('count calls by agent, dialect, operation and outcome', async () => {
    const response = await fetch(`${server.url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    for (const line of [
      'parley_calls_total{agent="script",dialect="v10",operation="send",outcome="ok"} 1',
      'parley_calls_total{agent="script",dialect="v10",operation="stream",outcome="ok"} 1',
      'parley_calls_total{agent="echo",dialect="v10",operation="send",outcome="ok"} 1',
      'parley_calls_total{agent="script",dialect="society",operation="send",outcome="ok"} 1',
      'parley_calls_total{agent="script",dialect="v10",operation="get",outcome="TASK_NOT_FOUND"} 1',
      'parley_http_requests_total{route="none",status="404"} 1',
      'parley_http_requests_total{route="jsonrpc",status="200"} 2',
      'parley_call_seconds_count{agent="script",operation="send"} 2',
      'parley_streams_open 0',
      'parley_tasks_running 0',
      'parley_tasks_queued 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).toMatch(/parley_commit_writes_count \d+\n/);
    expect(text).toMatch(/parley_commit_seconds_sum 0\.\d+/);
    expect(text).toMatch(/parley_event_loop_delay_seconds\{percentile="99"\} \d+(?:\.\d+)?(?:e-\d+)?\n/);
    expect(text).toMatch(/process_resident_memory_bytes \d{7,}\n/);
  });

  it('tell how late the event loop was since the last request for metrics', async () => {
    const late = async (): Promise<number> => metric(server.url, 'parley_event_loop_delay_seconds{percentile="99"}');
    await eventually(async () => {
      for (const end = performance.now() + 120; performance.now() < end; );
      return (await late()) > 0.08;
    });
    // The sampling interval of 10 ms is subtracted, so an idle event loop reports no delay.
    await sleep(100); // the time that is measured
    expectFigure(await metric(server.url, 'parley_event_loop_delay_seconds{percentile="50"}'), { below: 0.008 });
  });

  it('are in Prometheus’ text format', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const named = new Set<string>();
    for (const line of text.trimEnd().split('\n')) {
      const type = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line)?.[1];
      if (type !== undefined) {
        expect(named.has(type)).toBe(false);
        named.add(type);
      } else if (!line.startsWith('# HELP ')) {
        expect(line).toMatch(/^[a-z_]+(?:\{[a-z_]+="[^"\n]*"(?:,[a-z_]+="[^"\n]*")*\})? [0-9.e+-]+$/);
        expect([...named].some((name) => line.startsWith(name))).toBe(true);
      }
    }
  });
});

describe('logs', () => {
  it('contain each request at level debug, without its headers, query and body', async () => {
    const handler = handlerOf({ log: logging('debug') });
    await handler.fetch(
      jsonRequest('http://localhost/a2a?token=t0psecret', rpcSend('my password is hunter2'), { Authorization: 'Bearer abcdefgh1234' }),
    );
    await handler.close();
    const text = lines.splice(0).join('');
    expect(text).toContain('"path":"/a2a","status":200');
    for (const secret of ['t0psecret', 'hunter2', 'abcdefgh1234']) expect(text).not.toContain(secret);
  });

  it('contain the cause of an internal error, which the caller does not see', async () => {
    const handler = handlerOf({ log: logging('info') });
    const response = await handler.fetch(jsonRequest('http://localhost/a2a', rpcSend('crash')));
    const answer = await response.text();
    await handler.close();
    const text = lines.splice(0).join('');
    expect(text).toContain('"level":"error"');
    expect(text).toContain('script');
    expect(answer).toContain('TASK_STATE_FAILED');
    expect(answer).not.toContain('.ts:');
  });
});
