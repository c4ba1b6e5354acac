/** MCP both ways: the tools of an MCP server as an A2A agent, and A2A agents as the tools of an MCP host. */
import assert from 'node:assert/strict';
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { A2AClient } from 'parley-a2a';
import { defineAgent } from 'parley-a2a/agents';
import { tokenAuth } from 'parley-a2a/server';
import { serve } from 'parley-a2a/server/node';
import { mcpAgent, mcpMount } from 'parley-a2a/tools/mcp';

const program = { command: process.execPath, args: [fileURLToPath(new URL('./server.ts', import.meta.url))] };
const calculator = await mcpAgent(program);
const shout = defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn) => turn.text.toUpperCase() });
// The calculator starts a program on this machine, so the node requires authentication.
const token = randomUUID();
const isToken = (text: string): boolean => text.length === token.length && timingSafeEqual(Buffer.from(text), Buffer.from(token));
const node = await serve([calculator, shout], { port: 0, mcp: mcpMount, auth: [tokenAuth(isToken)] });

// An A2A client calls a tool of the MCP server.
const client = await A2AClient.connect(node.url, { auth: { bearer: token } });
assert.ok(client.card?.skills.some(({ id }) => id === 'add'));
assert.equal(await client.send([{ data: { a: 2, b: 40 } }]).text(), '42');

// An MCP host calls an A2A agent.
const host = new Client({ name: 'host', version: '1.0.0' });
const headers = { Authorization: `Bearer ${token}` };
await host.connect(new StreamableHTTPClientTransport(new URL(`${node.url}/mcp`), { requestInit: { headers } }));
const { tools } = await host.listTools();
const tool = tools.find(({ name }) => name.startsWith('a2a__shout'));
assert.ok(tool, `one of ${tools.map(({ name }) => name).join(', ')}`);
const { content } = await host.callTool({ name: tool.name, arguments: { message: 'hello' } });
assert.match(JSON.stringify(content), /HELLO/);

await host.close();
await node.close();
await calculator[Symbol.asyncDispose]();
console.log('mcp: a tool as an agent, an agent as a tool');
