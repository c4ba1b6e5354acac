import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '#agents';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { mcpMount } from '../../src/tools/adapters/mcp.ts';
import { tasksWhere } from '../faults/client.ts';
import { eventually } from '../support/eventually.ts';
import type { Child } from '../support/processes.ts';
import { startNode } from '../support/processes.ts';
import { builtIn, startServer } from '../support/server.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

const painter = defineAgent({
  name: 'painter',
  description: 'Paints.',
  outputModes: ['*/*'],
  run: () => [{ text: 'here' }, { raw: 'iVBORw0KGgo=', mediaType: 'image/png' }, { url: 'https://x.example/a.pdf', filename: 'a.pdf' }],
});

let server: NodeServer;
let overHttp: Child;
let httpUrl = '';
beforeAll(async () => {
  server = await startServer({ agents: [builtIn('script'), painter], mcp: (agents) => mcpMount(agents) });
  overHttp = startNode([MAIN, 'mcp', server.url, `${server.url}/agents/painter`, '--http', '--port', '0', '--json']);
  await overHttp.said('{"event":"ready"');
  httpUrl = (JSON.parse(overHttp.lines()[0] ?? '') as { url: string }).url;
});
afterAll(async () => {
  overHttp.process.kill('SIGTERM');
  expect((await overHttp.ended).code).toBe(0);
  await server.close();
});

const stdio = (): StdioClientTransport =>
  new StdioClientTransport({
    command: process.execPath,
    args: ['--conditions=our-src', '--disable-warning=ExperimentalWarning', MAIN, 'mcp', server.url, `${server.url}/agents/painter`],
  });

const WAYS: readonly (readonly [string, () => StdioClientTransport | StreamableHTTPClientTransport])[] = [
  ['parley mcp over stdio', stdio],
  ['parley mcp --http', () => new StreamableHTTPClientTransport(new URL(httpUrl))],
  ['/mcp of a node', () => new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`))],
];

describe.each(WAYS)('%s, by the official client', (_, transport) => {
  // The client's default handshake, and the newest revision of the protocol.
  describe.each(['legacy', 'auto'] as const)('%s', (mode) => {
    let client: Client;
    beforeAll(async () => {
      client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(transport());
    });
    afterAll(() => client.close());

    it('lists the agents’ skills as tools', async () => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['a2a__script__script', 'a2a__painter__painter']);
      expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['query'] });
    });

    it('calls a tool with progress', async () => {
      const notes: (string | undefined)[] = [];
      const result = await client.callTool(
        { name: 'a2a__script__script', arguments: { query: 'chunks=3 delay=100' } },
        { onprogress: ({ message }) => notes.push(message) },
      );
      expect(result.content).toEqual([{ type: 'text', text: 'chunk 1chunk 2chunk 3' }]);
      expect(result.structuredContent).toMatchObject({ response: 'chunk 1chunk 2chunk 3', state: 'completed' });
      // The client drops notifications that it reads together with the result.
      expect(notes.length).toBeGreaterThan(0);
      expect(notes).toEqual(['chunk 1', 'chunk 2', 'chunk 3'].slice(0, notes.length));
    });

    it('returns images and links', async () => {
      const { content } = await client.callTool({ name: 'a2a__painter__painter', arguments: { query: 'a tree' } });
      expect(content).toEqual([
        { type: 'text', text: 'here' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'https://x.example/a.pdf', name: 'a.pdf', mimeType: 'application/octet-stream' },
      ]);
    });

    it('passes on a question and its answer', async () => {
      const asked = await client.callTool({ name: 'a2a__script__script', arguments: { query: 'ask' } });
      const { taskId, response } = asked.structuredContent as { taskId: string; response: string };
      expect([asked.isError, response]).toEqual([undefined, 'What should I answer?']);
      const answered = await client.callTool({ name: 'a2a__script__script', arguments: { query: 'blue', taskId } });
      expect(answered.structuredContent).toMatchObject({ response: 'answer: blue' });
    });

    it('reports failures and unknown tools', async () => {
      const failed = await client.callTool({ name: 'a2a__script__script', arguments: { query: 'fail' } });
      expect([failed.isError, failed.content]).toEqual([true, [{ type: 'text', text: 'The message asked me to fail.' }]]);
      expect(await client.callTool({ name: 'nope', arguments: {} })).toMatchObject({ isError: true });
      expect(await client.callTool({ name: 'a2a__script__script', arguments: {} })).toMatchObject({ isError: true });
    });

    it('cancels the task when the call is canceled', async () => {
      const stop = new AbortController();
      const before = (await tasksWhere(server.url, 'status=TASK_STATE_CANCELED')).length;
      const call = client.callTool(
        { name: 'a2a__script__script', arguments: { query: 'chunks=2 delay=60000' } },
        { signal: stop.signal, onprogress: () => stop.abort() },
      );
      await expect(call).rejects.toThrow();
      await eventually(async () => (await tasksWhere(server.url, 'status=TASK_STATE_CANCELED')).length === before + 1);
    });
  });
});

describe('the node’s /mcp', () => {
  it('serves one agent below its own path', async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/agents/painter/mcp`)));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['a2a__painter__painter']);
    await client.close();
  });

  it('requires authentication, and the caller owns the tasks', async () => {
    const guarded = await startServer({
      agents: [builtIn('echo')],
      mcp: (agents) => mcpMount(agents),
      authenticate: (asked) => {
        const id = asked.header('authorization');
        return id === undefined ? { status: 401, headers: {}, body: null } : { principal: { id, scopes: ['*'] } };
      },
    });
    const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
    expect((await fetch(`${guarded.url}/mcp`, post)).status).toBe(401);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${guarded.url}/mcp`), { requestInit: { headers: { Authorization: 'ann' } } }),
    );
    await client.callTool({ name: 'a2a__echo__echo', arguments: { query: 'hi' } });
    const tasks = await fetch(`${guarded.url}/api/parley/v1/tasks`, { headers: { Authorization: 'ann' } });
    expect(((await tasks.json()) as { tasks: { principal: string }[] }).tasks.map(({ principal }) => principal)).toEqual(['ann']);
    await client.close();
    await guarded.close();
  });

  it('is not served by default', async () => {
    const plain = await startServer();
    expect((await fetch(`${plain.url}/mcp`)).status).toBe(404);
    await plain.close();
  });
});

describe('parley mcp --http', () => {
  it('refuses web pages of other origins', async () => {
    const page = { Origin: 'https://evil.example', 'Content-Type': 'application/json' };
    expect((await fetch(httpUrl, { method: 'POST', headers: page, body: '{}' })).status).toBe(403);
    expect((await fetch(httpUrl.replace('/mcp', '/'), {})).status).toBe(404);
  });
});
