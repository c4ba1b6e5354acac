import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveJsonRpc } from '#bindings';
import { A2AClient } from '#client';
import type { AgentCard } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';
import { CARD } from '../support/card.ts';
import type { Listening } from '../support/listen.ts';
import { listen } from '../support/listen.ts';
import { memoryService } from '../support/memory-service.ts';

/** A server that speaks one dialect and nothing else, with its card where that dialect's servers have it. */
interface Speaker {
  readonly dialect: string;
  readonly cardPath: string;
  readonly rpcPath: string;
  /** What it is called in, where its cards can't be told from another's: one that it understands. */
  readonly calledAs?: string;
}

const SPEAKERS: readonly Speaker[] = [
  { dialect: 'v10', cardPath: '/.well-known/agent-card.json', rpcPath: '/a2a' },
  { dialect: 'v03', cardPath: '/.well-known/agent-card.json', rpcPath: '/a2a/jsonrpc' },
  { dialect: 'v02.5', cardPath: '/.well-known/agent.json', rpcPath: '/rpc' },
  { dialect: 'v01', cardPath: '/.well-known/agent.json', rpcPath: '/' },
  { dialect: 'society', cardPath: '/.well-known/agent.json', rpcPath: '/', calledAs: 'v01' },
  { dialect: 'promptkit', cardPath: '/.well-known/agent.json', rpcPath: '/a2a' },
  { dialect: 'cortex', cardPath: '/.well-known/a2a-agent-card.json', rpcPath: '/a2a' },
  { dialect: 'cortex', cardPath: '/api/a2a/agent-card.json', rpcPath: '/api/a2a' },
];

const registry = createRegistry(DIALECTS);

async function speak({ dialect: id, cardPath, rpcPath }: Speaker, withCard: boolean): Promise<Listening> {
  const dialect = registry.byId(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  const service = memoryService(CARD);
  const server = await listen(async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET' && withCard && pathname === cardPath) return Response.json(cardOf(id, `${server.url}${rpcPath}`));
    if (request.method === 'POST' && pathname === rpcPath) return await serveJsonRpc(request, service, { dialect });
    return new Response('not here', { status: 404 });
  });
  return server;
}

function cardOf(id: string, url: string): unknown {
  const dialect = registry.byId(id);
  const protocolVersion = /^v(\d)(\d)/.exec(id)?.slice(1).join('.') ?? '1.0';
  const capabilities = id === 'society' ? {} : CARD.capabilities; // it has no streams
  const card: AgentCard = { ...CARD, capabilities, supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion }] };
  // PromptKit's cards name no address: that is how they are known.
  const written = dialect?.card.write(id === 'promptkit' ? { ...card, supportedInterfaces: [] } : card);
  return JSON.parse(JSON.stringify(written));
}

for (const speaker of SPEAKERS) {
  describe(`an agent that speaks ${speaker.dialect} at ${speaker.rpcPath}, its card at ${speaker.cardPath}`, () => {
    let server: Listening;
    let client: A2AClient;
    beforeAll(async () => {
      server = await speak(speaker, true);
      client = await A2AClient.connect(server.url);
    });
    afterAll(() => server.close());

    it('is found, and called as it wants to be', () => {
      expect(client.connection).toMatchObject({ url: `${server.url}${speaker.rpcPath}`, cardUrl: `${server.url}${speaker.cardPath}` });
    });

    it('answers', async () => {
      expect(await client.send('hi').text()).toBe('chunk 1');
      expect(client.connection).toMatchObject({ dialect: speaker.calledAs ?? speaker.dialect, settled: true });
    });

    it('is read as events, streamed or not', async () => {
      let last: string | undefined;
      for await (const { task, statusUpdate } of client.send('chunks=2')) last = (statusUpdate ?? task)?.status.state ?? last;
      expect(last).toBe('TASK_STATE_COMPLETED');
      expect(await client.stream('chunks=2').text()).toContain('chunk 2');
    });

    it('is answered when it asks', async () => {
      const asked = client.send('ask');
      expect((await asked.result()).task?.status.state).toMatch(/INPUT_REQUIRED|WORKING/);
    });

    it('is found by the address that takes its calls', async () => {
      const direct = await A2AClient.connect(`${server.url}${speaker.rpcPath}`);
      expect(direct.connection.url).toBe(`${server.url}${speaker.rpcPath}`);
      expect(await direct.send('hi').text()).toBe('chunk 1');
    });
  });
}

describe('an address without a card', () => {
  for (const speaker of SPEAKERS) {
    if (speaker.dialect === 'society' || speaker.cardPath.startsWith('/api/')) continue;
    it(`that speaks ${speaker.dialect} is found out by asking`, async () => {
      const server = await speak({ ...speaker, rpcPath: '/deep/inside' }, false);
      const client = await A2AClient.connect(`${server.url}/deep/inside`);
      expect(client.card).toBeUndefined();
      expect(await client.send('hi').text()).toBe('chunk 1');
      expect(client.connection.settled).toBe(true);
      await server.close();
    });
  }

  it('is taken as what it is said to be', async () => {
    const server = await speak({ dialect: 'society', cardPath: '', rpcPath: '/' }, false);
    const client = await A2AClient.connect(server.url, { dialect: 'society' });
    expect(await client.send('hi').text()).toBe('chunk 1');
    await server.close();
  });
});
