import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SKILL_SCHEMAS } from '#agents';
import { mcpSource } from '../../src/tools/adapters/mcp.ts';
import { sendInit } from '../faults/client.ts';
import { startParley } from '../faults/parley.ts';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { launchServe } from '../support/parley.ts';

const SERVER = fileURLToPath(new URL('children/mcp-server.ts', import.meta.url));
const COMMAND = `mcp:"${process.execPath}" --conditions=our-src ${SERVER}`;

// The tools of an MCP server may do anything, so the agent needs a token on loopback too.
const TOKEN = 'a-token-of-this-test-and-of-no-other';
const HEADERS = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` };

let node: Parley;
beforeAll(async () => {
  node = await startParley({ agent: COMMAND, env: { PARLEY_TOKEN: TOKEN } });
});
afterAll(() => node.stop());

async function call(skillId: string | undefined, parts: readonly object[]) {
  const metadata = skillId === undefined ? undefined : { skillId };
  const response = await fetch(`${node.url}/message:send`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, metadata } }),
  });
  const { task } = (await response.json()) as {
    task: { status: { state: string; message?: { parts: { text: string }[] } }; artifacts?: { parts: unknown[] }[] };
  };
  return { state: task.status.state, words: task.status.message?.parts[0]?.text ?? '', parts: task.artifacts?.[0]?.parts };
}

describe('serve mcp:COMMAND', () => {
  it('needs a token on loopback too', async () => {
    const response = await fetch(`${node.url}/message:send`, sendInit('shout hello'));
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
  });

  it('has the server’s tools as skills, with their schemas', async () => {
    const card = (await (await fetch(`${node.url}/.well-known/agent-card.json`)).json()) as {
      name: string;
      description: string;
      version: string;
      skills: { id: string; name: string }[];
      capabilities: { extensions: { uri: string; params: { skills: Record<string, { input: { schema: object } }> } }[] };
    };
    expect([card.name, card.description, card.version]).toEqual(['toolbox', 'A box of tools.', '2.0.0']);
    expect(card.skills.map(({ id, name }) => [id, name]).slice(0, 2)).toEqual([
      ['add', 'Add'],
      ['shout', 'Shout'],
    ]);
    const schemas = card.capabilities.extensions.find(({ uri }) => uri === SKILL_SCHEMAS)?.params.skills;
    expect(schemas?.['add']?.input.schema).toMatchObject({ type: 'object', required: ['a', 'b'] });
  });

  it('accepts data for a skill, and returns structured content as data', async () => {
    expect(await call('add', [{ data: { a: 2, b: 3 } }])).toMatchObject({ state: 'TASK_STATE_COMPLETED', parts: [{ data: { sum: 5 } }] });
  });

  it('accepts text: JSON, or the only string argument, also after the tool’s name', async () => {
    expect((await call('add', [{ text: '{"a":1,"b":1}' }])).parts).toEqual([{ data: { sum: 2 } }]);
    expect((await call('shout', [{ text: 'hello' }])).parts).toEqual([{ text: 'HELLO' }]);
    expect((await call(undefined, [{ text: 'shout hello there' }])).parts).toEqual([{ text: 'HELLO THERE' }]);
  });

  it('returns images and links', async () => {
    expect((await call('picture', [{ text: '' }])).parts).toEqual([
      { raw: 'iVBORw0KGgo=', mediaType: 'image/png' },
      { url: 'https://x.example/a.pdf', filename: 'a.pdf', mediaType: 'application/pdf' },
    ]);
  });

  it('reports errors, and the schema of missing arguments', async () => {
    expect(await call('break', [{ text: 'x' }])).toMatchObject({ state: 'TASK_STATE_FAILED', words: 'out of order' });
    const unknown = await call('nope', [{ text: 'x' }]);
    expect([unknown.state, unknown.words]).toEqual(['TASK_STATE_REJECTED', expect.stringContaining('There is no skill "nope" here.')]);
    expect((await call(undefined, [{ text: 'what now?' }])).words).toContain('- add: Adds.');
    expect((await call('add', [{ text: 'two and two' }])).words).toContain('add takes a JSON object');
  });

  it('passes on progress, and cancels to the server', async () => {
    const response = await fetch(`${node.url}/message:stream`, {
      ...sendInit('slow'),
      headers: HEADERS,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('step 3')) seen += (await reader?.read())?.value ?? '';
    const id = /"id":"([^"]+)"/.exec(seen)?.[1] ?? '';
    await fetch(`${node.url}/tasks/${id}:cancel`, { method: 'POST', headers: HEADERS, body: '{}' });
    const task = await (await fetch(`${node.url}/tasks/${id}`, { headers: HEADERS })).json();
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    await eventually(() => node.errors().includes('slow was stopped'));
    await reader?.cancel();
  });

  it('restarts a dead server for the next call', async () => {
    expect((await call('die', [{ text: '' }])).state).toBe('TASK_STATE_FAILED');
    expect((await call(undefined, [{ text: 'shout back again' }])).parts).toEqual([{ text: 'BACK AGAIN' }]);
  });

  it('reports a missing program', async () => {
    const child = launchServe({ args: ['mcp:/no/such/program', '--memory'] });
    expect((await child.ended).code).toBe(2);
    expect(child.errors()).toContain('there is no program /no/such/program');
  });
});

describe('mcpSource', () => {
  it.each([
    ['npx -y server', { command: 'npx', args: ['-y', 'server'] }],
    [`"/my tools/run" 'a b' c`, { command: '/my tools/run', args: ['a b', 'c'] }],
    [`x --name="a b"`, { command: 'x', args: ['--name=a b'] }],
    ['https://mcp.example/mcp', { url: 'https://mcp.example/mcp' }],
  ])('%s', (text, source) => expect(mcpSource(text)).toEqual(source));

  it('requires a command', () => expect(() => mcpSource('')).toThrow('the command is missing'));
});
