import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2AClient } from '#client';
import { toolsOf } from '#tools';
import { proxyAgent } from '../../src/agents/proxy/proxy.ts';
import { run } from '../cli/run.ts';
import type { RecallingServer } from '../support/product-servers.ts';
import { cortexServer, societyServer } from '../support/product-servers.ts';
import { startServer } from '../support/server.ts';

describe.each([
  ['Society', 'society', societyServer],
  ['CortexPrism', 'cortex', cortexServer],
] as const)('one conversation with %s', (_, dialect, open) => {
  let server: RecallingServer;
  beforeAll(async () => {
    server = await open();
  });
  afterAll(() => server.close());

  it('is kept by the client, by the context of the first answer', async () => {
    const client = await A2AClient.connect(server.url);
    expect(client.connection.dialect).toBe(dialect);
    const first = await client.stream('a').result();
    const contextId = first.task?.contextId ?? '';
    expect(contextId).not.toBe('');
    expect(await client.stream('b', { contextId }).text()).toBe('a, b');
    expect(await client.send('c', { contextId }).text()).toBe('a, b, c');
    expect(await client.send('d').text()).toBe('d');
    expect(server.methods).not.toContain('SendStreamingMessage');
  });

  it('is kept by a context that the caller chooses', async () => {
    const client = await A2AClient.connect(server.url);
    await client.send('a', { contextId: 'mine' }).result();
    expect(await client.stream('b', { contextId: 'mine' }).text()).toBe('a, b');
  });

  it('is kept by parley chat, and by parley ask --context-id', async () => {
    const { out } = await run(['chat', server.url, '--json'], { input: 'one\ntwo\n' });
    const answers = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly text: string; readonly contextId: string });
    expect(answers.map(({ text }) => text)).toEqual(['one', 'one, two']);
    const more = await run(['ask', server.url, '--context-id', answers[0]?.contextId ?? '', 'three']);
    expect(more.out).toBe('one, two, three\n');
  });

  it('is kept by a proxy', async () => {
    const { service, card } = await A2AClient.connect(server.url);
    if (card === undefined) throw new Error('no card');
    const node = await startServer({ agents: [proxyAgent({ service, card })] });
    const client = await A2AClient.connect(node.url);
    const contextId = (await client.send('x').result()).task?.contextId ?? '';
    expect(await client.stream('y', { contextId }).text()).toBe('x, y');
    await node.close();
  });

  it('is kept by a tool, as the MCP bridge has them', async () => {
    const [tool] = await toolsOf([{ url: server.url }]);
    const first = await tool?.execute({ query: 'p' });
    expect((await tool?.execute({ query: 'q', contextId: String(first?.contextId) }))?.text).toBe('p, q');
  });
});
