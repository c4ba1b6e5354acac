import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import type { AgentCard, TaskEvent } from '#protocol';
import { eventually } from '../support/eventually.ts';
import type { Listening } from '../support/listen.ts';
import { listenRaw } from '../support/listen.ts';
import { sdkExpress } from '../support/sdk-server.ts';
import { course } from '../support/talk.ts';
import type { Face } from './matrix.ts';
import { OUR_CLIENT } from './matrix.ts';

/** Our client with the official SDK's servers of every version that is still in use, over a socket. */
for (const face of OUR_CLIENT) {
  describe(`our client and the official server ${face.sdk}: ${face.version} ${face.binding}`, () => suite(face));
}

function suite({ sdk, version, binding, dialect, proven }: Face): void {
  let server: Listening;
  let client: A2AClient;
  beforeAll(async () => {
    server = await sdkExpress(sdk);
    const found = await A2AClient.connect(server.url);
    const card = found.card as AgentCard;
    const supportedInterfaces = card.supportedInterfaces.filter(
      (face) => face.protocolVersion === version && face.protocolBinding === binding,
    );
    expect(supportedInterfaces).toHaveLength(1);
    // 1.3.0 offers both versions, so the card is reduced to the tested one. Cards of older versions are used unchanged.
    client = sdk === '1.3.0' ? await A2AClient.connect({ ...card, supportedInterfaces }) : await A2AClient.connect(server.url, { binding });
  });
  afterAll(() => server.close());

  it('connects', () => expect(client.connection).toMatchObject({ binding, dialect }));

  it('sends', async () => {
    const { task } = await client.send('chunks=2').result();
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task?.artifacts?.[0]?.parts.map((part) => part.text)).toEqual(['chunk 1', 'chunk 2']);
  });

  it('streams', async () => {
    const events: TaskEvent[] = [];
    for await (const event of client.stream('chunks=3')) events.push(event);
    expect(course(events)).toEqual(['task SUBMITTED', 'status WORKING', 'artifact', 'artifact +', 'artifact + .', 'status COMPLETED']);
  });

  it('gets a direct message', async () => {
    expect((await client.send('message').result()).message?.parts[0]?.text).toBe('said directly');
  });

  it('asks and answers', async () => {
    const asked = client.send('ask');
    expect(await asked.question()).toMatchObject({ kind: 'input', text: 'Which one?' });
    expect(await asked.answer('blue').text()).toBe('answer: blue');
  });

  it('gets a task, and an error for an unknown one', async () => {
    const { task } = await client.send('one').result();
    expect((await client.get(task?.id ?? '')).status.state).toBe('TASK_STATE_COMPLETED');
    await expect(client.get('nobody')).rejects.toMatchObject({ name: 'A2AError', kind: 'TASK_NOT_FOUND' });
  });

  it('cancels', async () => {
    const handle = client.send('hang', { returnImmediately: true });
    const { task } = await handle.result();
    await client.cancel(task?.id ?? '');
    await eventually(async () => (await client.get(task?.id ?? '')).status.state === 'TASK_STATE_CANCELED');
  });

  it('subscribes', async () => {
    const { task } = await client.send('chunks=3 delay=100', { returnImmediately: true }).result();
    const events: TaskEvent[] = [];
    for await (const event of client.subscribe(task?.id ?? '')) events.push(event);
    expect(events[0]?.task?.id).toBe(task?.id);
    expect(course(events).at(-1)).toBe('status COMPLETED');
  });

  if (proven.includes('list')) {
    it('lists, page by page', async () => {
      const contextId = crypto.randomUUID();
      for (let at = 0; at < 5; at += 1) await client.send('one', { contextId }).result();
      const ids: string[] = [];
      for await (const task of client.list({ contextId: contextId as never, pageSize: 2 })) ids.push(task.id);
      expect(new Set(ids).size).toBe(5);
    });
  }

  if (sdk === '1.3.0' && dialect === 'v03.rest') {
    it('can’t configure webhooks: this layer accepts only a body that 0.3 servers reject', async () => {
      const { task } = await client.send('one').result();
      await expect(client.push.create(task?.id ?? '', { url: server.url })).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    });
  }
  if (proven.includes('push')) {
    it('gets webhooks', async () => {
      const told: string[] = [];
      const hook = await listenRaw(async (incoming, outgoing) => {
        for await (const chunk of incoming) told.push(String(chunk));
        outgoing.end();
      });
      const { task } = await client.send('chunks=1 delay=300', { returnImmediately: true }).result();
      const made = await client.push.create(task?.id ?? '', { id: 'c1' as never, url: hook.url });
      expect(made).toMatchObject({ url: hook.url });
      expect((await client.push.get(task?.id ?? '', 'c1')).url).toBe(hook.url);
      expect(await client.push.list(task?.id ?? '')).toHaveLength(1);
      await eventually(() => told.length > 0);
      await client.push.delete(task?.id ?? '', 'c1');
      expect(await client.push.list(task?.id ?? '')).toHaveLength(0);
      await hook.close();
    });
  }
  if (proven.includes('extended card')) {
    it('gets the extended card', async () => expect((await client.extendedCard()).name).toBe('sdk'));
  }
}
