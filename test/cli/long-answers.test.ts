import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Listening } from '../support/listen.ts';
import { listen } from '../support/listen.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { run } from './run.ts';

/** More than the 30 s that clients of 0.3 wait by default. */
const ANSWER_MS = 35_000;
const CARD = {
  name: 'slow',
  description: 'Answers late.',
  protocolVersion: '0.3.0',
  version: '1',
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};

interface RpcCall {
  readonly id: number;
  readonly method: string;
}

/** An agent of 0.3 without streams that is silent until its only answer. */
async function slowServer(): Promise<Listening> {
  const server: Listening = await listen(async (request) => {
    if (request.method === 'GET') return Response.json({ ...CARD, url: `${server.url}/rpc` });
    const { id, method } = (await request.json()) as RpcCall;
    if (method !== 'message/send') return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    await sleep(ANSWER_MS, undefined, { signal: request.signal });
    const message = { kind: 'message', role: 'agent', messageId: String(id), parts: [{ kind: 'text', text: 'late answer' }] };
    return Response.json({ jsonrpc: '2.0', id, result: message });
  });
  return server;
}

describe.concurrent('an answer that takes longer than the 30 s of its version', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-slow-'));
  let origin: Listening;
  let proxy: Parley;
  let hasty: Parley;
  let named: Parley;
  beforeAll(async () => {
    origin = await slowServer();
    const remoteAgents = { slow: { endpoint: origin.url, timeout: 90_000 }, hasty: { endpoint: origin.url, timeout: 10_000 } };
    writeFileSync(join(folder, 'parley.config.json'), JSON.stringify({ a2a: { remoteAgents } }));
    const proxying = (agent: string, ...args: string[]): Promise<Parley> =>
      parleyServe({ command: ['proxy', agent], args: ['--memory', ...args], cwd: folder });
    proxy = await proxying(origin.url, '--timeout', '90s');
    hasty = await proxying(origin.url, '--timeout', '10s');
    named = await proxying('hasty');
  });
  afterAll(async () => {
    for (const node of [proxy, hasty, named]) await node.stop();
    await origin.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ANSWERED = { code: 0, out: 'late answer\n' };

  it('reaches `ask --timeout 90s`', async () => {
    expect(await run(['ask', origin.url, 'hi', '--timeout', '90s'])).toMatchObject(ANSWERED);
  });

  it('reaches `ask` with the timeout of a2a.remoteAgents', async () => {
    expect(await run(['ask', 'slow', 'hi'], { cwd: folder })).toMatchObject(ANSWERED);
    expect(await run(['ask', 'hasty', 'hi'], { cwd: folder })).toMatchObject({ code: 5, out: '' });
  });

  it('reaches the callers of `proxy --timeout 90s`', async () => {
    expect(await run(['ask', proxy.url, 'hi', '--timeout', '90s'])).toMatchObject(ANSWERED);
  });

  it('does not reach those of a proxy with a shorter limit, by its flag or by the configuration', async () => {
    for (const { url } of [hasty, named]) {
      const { code, out, err } = await run(['ask', url, 'hi', '--timeout', '90s']);
      expect([code, out + err]).toEqual([1, expect.stringContaining('slow did not answer within 10 s')]);
    }
  });

  it('needs a limit that a timer can measure', async () => {
    for (const text of ['0', 'soon', '1000h']) {
      expect((await run(['proxy', origin.url, '--timeout', text])).code, text).toBe(2);
    }
  });
});
