import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { parleyServe } from '../support/parley.ts';
import { startReceiver } from '../support/receiver.ts';
import { onRealBrokers, onStop, send, start, stateOf, stopAll, taskAt } from './nodes.ts';

afterEach(stopAll);

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const status = async (url: string): Promise<number> => (await fetch(url)).status;

onRealBrokers('a gateway', (startBroker) => {
  const opened = async (more: readonly string[] = []) => {
    const broker = await startBroker();
    const [node, gateway] = await Promise.all([
      start(broker.url, ['script', 'echo'], { args: ['--memory', ...more] }),
      start(broker.url, [], { command: ['mesh', 'gateway'], args: ['--memory', ...more] }),
    ]);
    for (const name of ['script', 'echo'])
      await eventually(async () => expect(await status(`${gateway.url}/agents/${name}/.well-known/agent-card.json`)).toBe(200));
    return { broker, node, gateway, script: { url: `${gateway.url}/agents/script` }, echo: { url: `${gateway.url}/agents/echo` } };
  };

  it('serves the agents of the mesh over HTTP, with streams, questions and cancels', async () => {
    const { script, gateway } = await opened();
    const done = await send(script, 'chunks=3');
    expect([done.status.state, done.artifacts?.[0]?.parts[0]?.text]).toEqual(['TASK_STATE_COMPLETED', 'chunk 1chunk 2chunk 3']);
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

  it('serves agents that join and drops those that leave', async () => {
    const { broker, gateway, node } = await opened();
    await start(broker.url, ['conformance']);
    const card = (name: string): string => `${gateway.url}/agents/${name}/.well-known/agent-card.json`;
    await eventually(async () => expect(await status(card('conformance'))).toBe(200));
    await node.stop();
    await eventually(async () => expect([await status(card('script')), await status(card('conformance'))]).toEqual([404, 200]));
  });

  it('accepts and returns large files as bytes, and sends them by reference over the broker', async () => {
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

  it('delivers webhooks for tasks on the mesh, also after it was killed', async () => {
    const receiver = await startReceiver();
    const data = mkdtempSync(join(tmpdir(), 'parley-gateway-'));
    onStop(async () => {
      await receiver.close();
      rmSync(data, { recursive: true, force: true });
    });
    const broker = await startBroker();
    await start(broker.url, ['script']);
    const open = () =>
      start(broker.url, [], { command: ['mesh', 'gateway'], args: ['--data', data, '--allow-loopback-targets', '--port', '0'] });
    const first = await open();
    const script = { url: `${first.url}/agents/script` };
    await eventually(async () => expect(await status(`${script.url}/.well-known/agent-card.json`)).toBe(200));
    expect(await (await fetch(`${script.url}/.well-known/agent-card.json`)).json()).toMatchObject({
      capabilities: { pushNotifications: true },
    });
    const told = (path: string): string =>
      receiver.hits
        .filter((hit) => hit.path === path)
        .map(({ body }) => body)
        .join('\n');
    const config = (path: string): object => ({ taskPushNotificationConfig: { url: `${receiver.url}${path}` }, returnImmediately: true });
    await send(script, 'chunks=2', {}, config('/short'));
    await eventually(() => expect(told('/short')).toContain('TASK_STATE_COMPLETED'));
    expect(told('/short').match(/"artifactUpdate"/g)).toHaveLength(2);
    await send(script, 'chunks=3 delay=1500', {}, config('/long'));
    await eventually(() => expect(told('/long')).toContain('chunk 1'));
    await first.kill();
    await open();
    await eventually(() => expect(told('/long')).toContain('TASK_STATE_COMPLETED'));
    expect(told('/long')).toContain('chunk 3');
  });

  it('continues its tasks under the same id after it was killed', async () => {
    const data = mkdtempSync(join(tmpdir(), 'parley-gateway-'));
    onStop(async () => rmSync(data, { recursive: true, force: true }));
    const broker = await startBroker();
    await start(broker.url, ['script']);
    const open = () =>
      start(broker.url, [], { command: ['mesh', 'gateway'], args: ['--limit', 'drainMsMax=3000'], env: { XDG_DATA_HOME: data } });
    const first = await open();
    const script = { url: `${first.url}/agents/script` };
    await eventually(async () => expect(await status(`${script.url}/.well-known/agent-card.json`)).toBe(200));
    const [long, short, asking] = await Promise.all(
      ['chunks=6 delay=1500', 'sleep=500', 'ask'].map((text) => send(script, text, {}, { returnImmediately: true })),
    );
    const idOf = (task: { readonly id: string } | undefined): string => task?.id ?? '';
    await eventually(async () => expect(await stateOf(script, idOf(asking))).toBe('TASK_STATE_INPUT_REQUIRED'));
    const unheard = await send(script, 'sleep=300', {}, { returnImmediately: true }); // possibly not accepted yet
    await first.kill();
    const second = await open();
    const again = { url: `${second.url}/agents/script` };
    expect(second.agents).toEqual(['gateway', 'script']); // known from the earlier run
    expect(JSON.parse(second.lines()[0] ?? '')).toMatchObject({ id: (JSON.parse(first.lines()[0] ?? '') as { id: string }).id });
    await eventually(async () => {
      const states = await Promise.all([long, short, unheard].map((task) => stateOf(again, idOf(task))));
      expect(states).toEqual(Array(3).fill('TASK_STATE_COMPLETED'));
    });
    const { artifacts } = await taskAt(again, idOf(long));
    expect(artifacts?.[0]?.parts.map(({ text }) => text).join('')).toBe([1, 2, 3, 4, 5, 6].map((at) => `chunk ${at}`).join(''));
    expect(JSON.stringify(await send(again, 'green', { taskId: idOf(asking) }))).toContain('answer: green');
  });

  it('serves an HTTP agent that a proxy put on the mesh', async () => {
    const origin = await parleyServe({ args: ['echo', '--memory'] });
    onStop(async () => {
      origin.process.kill('SIGKILL');
      await origin.ended;
    });
    const broker = await startBroker();
    await start(broker.url, [origin.url, '--name', 'far'], { command: ['proxy'], args: ['--memory', '--allow-loopback-targets'] });
    const gateway = await start(broker.url, [], { command: ['mesh', 'gateway'] });
    await eventually(async () => expect(await status(`${gateway.url}/agents/far/.well-known/agent-card.json`)).toBe(200));
    const task = await send({ url: `${gateway.url}/agents/far` }, 'through and through');
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('through and through');
  });
});
