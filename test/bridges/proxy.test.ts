import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

import { ORIGIN_NOTE, verifyCard } from '#protocol';
import type { JSONWebKeySet } from '../../src/protocol/adapters/jose.ts';
import { joseVerifier } from '../../src/protocol/adapters/jose.ts';
import { chunksText, getTask, logOf, sendInit, sendTask, tasksWhere, textOf } from '../faults/client.ts';
import { allOf, eventOf, eventsOf } from '../faults/frames.ts';
import { startParley } from '../faults/parley.ts';
import { eventually } from '../support/eventually.ts';
import { startNode } from '../support/processes.ts';
import type { SdkVersion } from '../support/sdk-server.ts';
import { sdkExpress } from '../support/sdk-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reads a stream in the background, with the ids of its frames. */
function reading(response: Response) {
  const seen: { readonly id: string | undefined; readonly text: string; readonly state: string | undefined }[] = [];
  const done = (async () => {
    for await (const frame of eventsOf(response, () => undefined)) {
      const event = eventOf(frame);
      const text = (event.artifactUpdate?.artifact.parts ?? []).map((part) => part.text ?? '').join('');
      seen.push({ id: frame.id, text, state: event.statusUpdate?.status.state ?? event.task?.status.state });
    }
  })();
  return { seen, done, text: () => seen.map(({ text }) => text).join('') };
}

const stream = (url: string, text: string): Promise<Response> => fetch(`${url}/message:stream`, sendInit(text));

describe.each<SdkVersion>(['0.2.5', '0.3.13', '1.3.0'])('an agent of the official SDK %s, in one command', (version) => {
  it('is a 1.0 agent that streams, asks, and can be canceled and resumed', async () => {
    const origin = await sdkExpress(version);
    const proxy = await startParley({ agent: origin.url });
    const card = (await (await fetch(`${proxy.url}/.well-known/agent-card.json`)).json()) as { supportedInterfaces: { url: string }[] };
    // The address of gRPC has no scheme.
    expect(card.supportedInterfaces.every(({ url }) => `http://${url.replace('http://', '')}`.startsWith(proxy.url))).toBe(true);

    const frames = await allOf(eventsOf(await stream(proxy.url, 'chunks=3')));
    const events = frames.map(eventOf);
    expect(events.flatMap((event) => event.artifactUpdate?.artifact.parts.map((part) => part.text) ?? []).join('')).toBe(chunksText(3));
    expect(events.at(-1)?.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');

    // The origin can't resume a stream. The proxy sends exactly the events after the given one.
    const id = events[0]?.task?.id ?? '';
    const after = frames.findIndex(({ data }) => data?.includes('artifactUpdate'));
    const headers = { 'Last-Event-ID': frames[after]?.id ?? '', Accept: 'text/event-stream' };
    const again = await allOf(eventsOf(await fetch(`${proxy.url}/tasks/${id}:subscribe`, { method: 'POST', headers })));
    expect(again.slice(1).map(({ data }) => data)).toEqual(frames.slice(after + 1).map(({ data }) => data));

    const asked = await sendTask(proxy.url, 'ask');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = await sendTask(proxy.url, 'blue', { taskId: asked.id });
    expect(answered.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
    expect(JSON.stringify(answered)).toContain('blue');

    const working = await sendTask(proxy.url, 'chunks=50 delay=1000', { returnImmediately: true });
    await eventually(async () => (await getTask(proxy.url, working.id)).metadata?.[ORIGIN_NOTE] !== undefined);
    const canceled = await fetch(`${proxy.url}/tasks/${working.id}:cancel`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(((await canceled.json()) as { status: { state: string } }).status.state).toBe('TASK_STATE_CANCELED');
    expect(await proxy.stop()).toBe(0);
    await origin.close();
  });
});

describe('a proxied stream', () => {
  it('continues after the origin is killed and restarted', async () => {
    const data = join(folder, 'origin-1');
    const origin = await startParley({ data });
    const proxy = await startParley({ agent: origin.url, data: join(folder, 'proxy-1') });
    const { seen, done, text } = reading(await stream(proxy.url, 'chunks=12 delay=150'));
    await eventually(() => text().includes('chunk 4'));
    await origin.kill();
    const back = await startParley({ data, args: ['--port', String(origin.port)], limits: { retryMs: 10 } });
    await done;
    expect(text()).toBe(chunksText(12));
    expect(seen.at(-1)?.state).toBe('TASK_STATE_COMPLETED');
    expect(await tasksWhere(back.url, '')).toHaveLength(1);
    await proxy.stop();
    await back.stop();
  });

  it('continues after the proxy is killed and restarted: by Last-Event-ID, each event once', async () => {
    const origin = await startParley({ data: join(folder, 'origin-2') });
    const data = join(folder, 'proxy-2');
    const proxy = await startParley({ agent: origin.url, data });
    const first = reading(await stream(proxy.url, 'chunks=12 delay=150'));
    await eventually(() => first.text().includes('chunk 4'));
    await proxy.kill();
    await first.done;
    const [task] = await tasksWhere(origin.url, '');
    const back = await startParley({ agent: origin.url, data, limits: { retryMs: 10 } });
    const [ours] = await tasksWhere(back.url, '');
    const headers = { 'Last-Event-ID': first.seen.at(-1)?.id ?? '', Accept: 'text/event-stream' };
    const rest = reading(await fetch(`${back.url}/tasks/${ours?.id}:subscribe`, { method: 'POST', headers }));
    await rest.done;
    expect(first.text() + rest.text()).toBe(chunksText(12));
    expect(textOf(await getTask(back.url, ours?.id ?? ''))).toBe(chunksText(12));
    expect((await tasksWhere(origin.url, '')).map(({ id }) => id)).toEqual([task?.id]);
    const log = (await logOf(back.url, ours?.id ?? '')) ?? [];
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
    await back.stop();
    await origin.stop();
  });

  it('fails with a reason when the origin does not come back', async () => {
    const origin = await startParley({});
    const proxy = await startParley({ agent: origin.url });
    const { seen, done, text } = reading(await stream(proxy.url, 'chunks=50 delay=100'));
    await eventually(() => text().includes('chunk 2'));
    await origin.kill();
    const another = await startParley({ args: ['--port', String(origin.port)] }); // the same address, without the task
    await done;
    expect(seen.at(-1)?.state).toBe('TASK_STATE_FAILED');
    const [ours] = await tasksWhere(proxy.url, '');
    expect(JSON.stringify((await getTask(proxy.url, ours?.id ?? '')).status.message)).toContain('script does not know the task any more');
    await proxy.stop();
    await another.stop();
  });

  it('carries large files both ways', async () => {
    const origin = await startParley({ agent: 'echo' });
    const proxy = await startParley({ agent: origin.url });
    const raw = Buffer.alloc(600_000, 7).toString('base64');
    const message = {
      messageId: 'f1',
      role: 'ROLE_USER',
      parts: [{ raw, filename: 'a.bin', mediaType: 'application/x-test' }, { url: 'https://x.example/y' }],
    };
    const response = await fetch(`${proxy.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message }),
    });
    const { task } = (await response.json()) as { task: { artifacts: { parts: unknown[] }[] } };
    expect(task.artifacts[0]?.parts).toEqual(message.parts);
    await proxy.stop();
    await origin.stop();
  });
});

describe('parley proxy', () => {
  it('accepts names of a2a.remoteAgents, with their token', async () => {
    const origin = await startParley({ agent: 'echo' });
    const config = join(folder, 'parley.config.json');
    writeFileSync(config, JSON.stringify({ a2a: { remoteAgents: { 'partner-bot': { endpoint: origin.url, authToken: 'sk-1' } } } }));
    const proxy = await startParley({ agent: 'partner-bot', args: ['--config', config, '--no-auth'] });
    expect(JSON.parse(proxy.lines()[0] ?? '')).toMatchObject({ agents: ['partner-bot'] });
    expect(textOf(await sendTask(proxy.url, 'hello'))).toBe('hello');
    await proxy.stop();
    await origin.stop();
  });

  it('accepts only cards that a trusted key signed, and signs its own', async () => {
    const plain = await startParley({ agent: 'echo' });
    const [first, second] = [join(folder, 'first.jwk'), join(folder, 'second.jwk')];
    const entry = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const proxying = async (...args: string[]) => {
      const child = startNode([entry, 'proxy', ...args, '--memory', '--json', '--port', '0']);
      await child.said('{"event":"ready"');
      return { ...child, url: (JSON.parse(child.lines()[0] ?? '') as { url: string }).url };
    };
    const signed = await proxying(plain.url, '--card-key', first);
    const again = await proxying(signed.url, '--trust-keys', `${first}.pub`, '--card-key', second);
    const raw: unknown = await (await fetch(`${again.url}/.well-known/agent-card.json`)).json();
    const verdict = async (keys: string) =>
      (await verifyCard(raw, joseVerifier(JSON.parse(readFileSync(keys, 'utf8')) as JSONWebKeySet))).ok;
    expect([await verdict(`${second}.pub`), await verdict(`${first}.pub`)]).toEqual([true, false]);
    expect(JSON.stringify(raw)).toContain('"verified":true');
    // Another key, and a card without a signature.
    for (const url of [signed.url, plain.url]) {
      const refused = startNode([entry, 'proxy', url, '--trust-keys', `${second}.pub`, '--memory', '--port', '0']);
      expect((await refused.ended).code).toBe(1);
      expect(refused.errors()).toContain('is not trusted');
    }
    for (const child of [again, signed]) {
      child.process.kill('SIGTERM');
      await child.ended;
    }
    await plain.stop();
  });
});
