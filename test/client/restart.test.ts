import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { NotA2A } from '#bindings';
import type { RetryPolicy } from '#client';
import { A2AClient, Backoff } from '#client';
import { A2AError } from '#protocol';
import { start } from '../cli/run.ts';
import { expectFigure } from '../support/figures.ts';
import { parleyServe } from '../support/parley.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-restart-'));
afterAll(() => rmSync(folder, { recursive: true }));

const WORDS = 'chunks=60 delay=250';
const WHOLE: string = Array.from({ length: 60 }, (_, at) => `chunk ${at + 1}`).join('');

async function textOf(client: A2AClient): Promise<string> {
  let text = '';
  for await (const { artifactUpdate } of client.stream(WORDS)) {
    if (artifactUpdate === undefined) continue;
    const added = artifactUpdate.artifact.parts.map((part) => part.text ?? '').join('');
    text = artifactUpdate.append === true ? text + added : added;
  }
  return text;
}

describe('a stream while the node restarts', () => {
  it('continues after the restart', async () => {
    const data = join(folder, 'data');
    const server = await parleyServe({ args: ['script', '--data', data] });
    const [library, ask, send] = [
      textOf(await A2AClient.connect(server.url)),
      start(['ask', server.url, WORDS]),
      start(['send', '-a', server.url, '--stream', '-o', 'json', WORDS]),
    ];
    await Promise.all([ask.until(/chunk 2/), send.until(/chunk 2/)]);
    const began = performance.now();
    expect(await server.stop()).toBe(0);
    expectFigure(performance.now() - began, { above: 7500 }); // the configured maximum
    const next = await parleyServe({ args: ['script', '--data', data, '--port', String(server.port)] });
    expect(await library).toBe(WHOLE);
    const asked = await ask.ended;
    expect(asked.code, asked.err).toBe(0);
    expect(asked.out.replaceAll('\n', '')).toBe(WHOLE);
    const sent = await send.ended;
    expect(sent.code, sent.err).toBe(0);
    expect(sent.out).toContain('TASK_STATE_COMPLETED');
    expect(await next.stop()).toBe(0);
  });

  it('that times out names the task and the command that continues', async () => {
    const server = await parleyServe({ args: ['script', '--memory'] });
    const ask = start(['ask', server.url, 'chunks=500 delay=100', '--timeout', '5s']);
    await ask.until(/chunk 2/);
    await server.kill();
    const { code, err } = await ask.ended;
    expect(code).toBe(5);
    expect(err).toMatch(new RegExp(`still runs: parley task get -a ${server.url} [\\w-]{36,} --wait`));
  });
});

describe('Backoff', () => {
  const policy: RetryPolicy = {
    tries: 2,
    firstDelayMs: 100,
    maxDelayMs: 1000,
    resend: 'refused',
    awayMsMax: 150,
    retryAfterMaxMs: 60_000,
    random: () => 1,
  };
  const gone = new A2AError('UNAVAILABLE', 'x', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });

  it('gives up on an unreachable server after a time, with growing delays', async () => {
    const backoff = new Backoff({ ...policy, tries: 0 });
    expect([backoff.next(gone), backoff.next(gone), backoff.next(gone)]).toEqual([100, 200, 400]);
    const proxy = new A2AError('UNAVAILABLE', 'x', { cause: new NotA2A(502, '') });
    expect(backoff.next(proxy)).toBe(800);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 150);
    expect(backoff.next(gone)).toBeUndefined();
    backoff.renew();
    expect(backoff.next(gone)).toBe(100);
    vi.restoreAllMocks();
  });

  it('gives up on a server without news after a number of attempts', () => {
    const backoff = new Backoff(policy);
    expect([backoff.next(undefined), backoff.next(gone), backoff.next(undefined), backoff.next(undefined)]).toEqual([
      100,
      200,
      400,
      undefined,
    ]);
  });
});
