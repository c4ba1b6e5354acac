import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { parleyServe } from '../support/parley.ts';
import { eventually, onRealBrokers, onStop, send, start, stateOf, stopAll } from './nodes.ts';

afterEach(stopAll);

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const status = async (url: string): Promise<number> => (await fetch(url)).status;

onRealBrokers('a gateway', (startBroker) => {
  const opened = async (more: readonly string[] = []) => {
    const broker = await startBroker();
    const node = await start(broker.url, ['script', 'echo'], { args: ['--memory', ...more] });
    const gateway = await start(broker.url, [], { command: ['mesh', 'gateway'], args: ['--memory', ...more] });
    await eventually(async () => expect(await status(`${gateway.url}/agents/script/.well-known/agent-card.json`)).toBe(200), 15_000);
    return { broker, node, gateway, script: { url: `${gateway.url}/agents/script` }, echo: { url: `${gateway.url}/agents/echo` } };
  };

  it('offers the agents of the mesh over HTTP, with streams, questions and cancels', { timeout: 60_000 }, async () => {
    const { script, gateway } = await opened();
    const done = await send(script, 'chunks=3');
    expect([done.status.state, done.artifacts?.[0]?.parts.length]).toEqual(['TASK_STATE_COMPLETED', 3]);
    const message = { messageId: 's1', role: 'ROLE_USER', parts: [{ text: 'chunks=4' }] };
    const stream = await (await post(`${script.url}/message:stream`, { message })).text();
    expect(stream.match(/artifactUpdate/g)?.length).toBe(4);
    const asked = await send(script, 'ask');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(JSON.stringify(await send(script, 'green', { taskId: asked.id }))).toContain('answer: green');
    const long = await send(script, 'sleep=60000', {}, { returnImmediately: true });
    await eventually(async () =>
      expect(JSON.stringify(await (await fetch(`${script.url}/tasks/${long.id}`)).json())).toContain('urn:parley:a2a:origin'),
    );
    await post(`${script.url}/tasks/${long.id}:cancel`, {});
    expect(await stateOf(script, long.id)).toBe('TASK_STATE_CANCELED');
    // A client of 0.3 at the same agent.
    const v03 = {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message: { kind: 'message', messageId: 'old', role: 'user', parts: [{ kind: 'text', text: 'chunks=1' }] } },
    };
    expect(await (await post(`${script.url}/a2a`, v03)).json()).toMatchObject({ result: { kind: 'task', status: { state: 'completed' } } });
    expect(await (await fetch(`${gateway.url}/.well-known/ai-catalog.json`)).text()).toContain(
      '/agents/script/.well-known/agent-card.json',
    );
  });

  it('offers those who come, and no longer those who leave', { timeout: 60_000 }, async () => {
    const { broker, gateway, node } = await opened();
    await start(broker.url, ['conformance']);
    const card = (name: string): string => `${gateway.url}/agents/${name}/.well-known/agent-card.json`;
    await eventually(async () => expect(await status(card('conformance'))).toBe(200), 12_000);
    await node.stop();
    await eventually(async () => expect([await status(card('script')), await status(card('conformance'))]).toEqual([404, 200]));
  });

  it('takes large files in as bytes, and hands them out as bytes; over the broker they go by reference', { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-artifacts-'));
    onStop(async () => rmSync(folder, { recursive: true, force: true }));
    const { echo } = await opened(['--artifacts', folder]);
    const raw = Buffer.alloc(300_000, 7).toString('base64');
    const message = { messageId: 'f1', role: 'ROLE_USER', parts: [{ raw, filename: 'large.bin', mediaType: 'application/octet-stream' }] };
    const { task } = (await (await post(`${echo.url}/message:send`, { message })).json()) as {
      task: { artifacts: { parts: { raw?: string; url?: string }[] }[] };
    };
    expect(task.artifacts[0]?.parts[0]?.raw?.length).toBe(raw.length);
  });

  it('and a proxy make an HTTP agent elsewhere one of the mesh', { timeout: 60_000 }, async () => {
    const origin = await parleyServe({ args: ['echo', '--memory'] });
    onStop(async () => {
      origin.process.kill('SIGKILL');
      await origin.ended;
    });
    const broker = await startBroker();
    await start(broker.url, [origin.url, '--name', 'far'], { command: ['proxy'], args: ['--memory', '--allow-loopback-targets'] });
    const gateway = await start(broker.url, [], { command: ['mesh', 'gateway'] });
    await eventually(async () => expect(await status(`${gateway.url}/agents/far/.well-known/agent-card.json`)).toBe(200), 15_000);
    const task = await send({ url: `${gateway.url}/agents/far` }, 'through and through');
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('through and through');
  });
});
