import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import { DIALECT_SERVERS, serveDialect } from '../support/dialect-servers.ts';
import type { Listening } from '../support/listen.ts';

for (const server of DIALECT_SERVERS) {
  describe(`an agent in ${server.dialect} at ${server.rpcPath}, its card at ${server.cardPath}`, () => {
    let listening: Listening;
    let client: A2AClient;
    beforeAll(async () => {
      listening = await serveDialect(server);
      client = await A2AClient.connect(listening.url);
    });
    afterAll(() => listening.close());

    it('is found and called at the address of its card', () => {
      expect(client.connection).toMatchObject({ url: `${listening.url}${server.rpcPath}`, cardUrl: `${listening.url}${server.cardPath}` });
    });

    it('answers', async () => {
      expect(await client.send('hi').text()).toBe('chunk 1');
      expect(client.connection).toMatchObject({ dialect: server.dialect, settled: true });
    });

    it('sends events, streamed or not', async () => {
      let last: string | undefined;
      for await (const { task, statusUpdate } of client.send('chunks=2')) last = (statusUpdate ?? task)?.status.state ?? last;
      expect(last).toBe('TASK_STATE_COMPLETED');
      expect(await client.stream('chunks=2').text()).toContain('chunk 2');
    });

    it('asks for input', async () => {
      const asked = client.send('ask');
      expect((await asked.result()).task?.status.state).toMatch(/INPUT_REQUIRED|WORKING/);
    });

    it('is found by the address that takes calls', async () => {
      const direct = await A2AClient.connect(`${listening.url}${server.rpcPath}`);
      expect(direct.connection.url).toBe(`${listening.url}${server.rpcPath}`);
      expect(await direct.send('hi').text()).toBe('chunk 1');
    });
  });
}

describe('an address without a card', () => {
  for (const server of DIALECT_SERVERS) {
    if (server.dialect === 'society' || server.cardPath.startsWith('/api/')) continue;
    it(`is probed: ${server.dialect}`, async () => {
      const listening = await serveDialect({ ...server, rpcPath: '/deep/inside' }, false);
      const client = await A2AClient.connect(`${listening.url}/deep/inside`);
      expect(client.card).toBeUndefined();
      expect(await client.send('hi').text()).toBe('chunk 1');
      expect(client.connection.settled).toBe(true);
      await listening.close();
    });
  }

  it('is called in the dialect that the caller names', async () => {
    const listening = await serveDialect({ dialect: 'society', cardPath: '', rpcPath: '/' }, false);
    const client = await A2AClient.connect(listening.url, { dialect: 'society' });
    expect(await client.send('hi').text()).toBe('chunk 1');
    await listening.close();
  });
});
