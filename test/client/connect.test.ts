import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { startServer } from '../support/server.ts';

/** Our client against our own server, over a socket. */
let server: NodeServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

describe('a client of a node', () => {
  it('finds the card, and reports the chosen endpoint', async () => {
    const client = await A2AClient.connect(server.url);
    expect(client.card?.name).toBe('script');
    expect(client.connection).toMatchObject({ url: `${server.url}/a2a/jsonrpc`, binding: 'JSONRPC', dialect: 'v10', settled: false });
    expect(await client.send('chunks=2').text()).toBe('chunk 1chunk 2');
    expect(client.connection.settled).toBe(true);
  });

  it('streams', async () => {
    const client = await A2AClient.connect(server.url);
    const kinds: string[] = [];
    const handle = client.send('chunks=2');
    for await (const event of handle) kinds.push(Object.keys(event).join());
    expect(kinds.at(0)).toBe('task');
    expect(kinds.filter((kind) => kind === 'artifactUpdate')).toHaveLength(2);
    expect((await handle.result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await client.stream('chunks=2').text()).toBe('chunk 1chunk 2');
  });

  it('asks and answers', async () => {
    const client = await A2AClient.connect(server.url);
    const asked = client.send('ask');
    expect(await asked.question()).toMatchObject({ kind: 'input', choices: [] });
    expect(await asked.answer('blue').text()).toContain('answer: blue');
  });
});
