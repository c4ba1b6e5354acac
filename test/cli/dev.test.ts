import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { parley } from './run.ts';

const cwd = mkdtempSync(join(tmpdir(), 'parley-dev-'));
afterAll(() => rmSync(cwd, { recursive: true }));
const write = (file: string, text: string): void => writeFileSync(join(cwd, file), text);

const agent = (name: string): string => `import { defineAgent } from 'parley-a2a/agents';
import { say } from './say.ts';

export default defineAgent({
  name: '${name}',
  description: 'Says it in its own way.',
  run: async function* (turn) {
    if (turn.text === 'bad') throw new Error('this text is not for me');
    yield say(turn.text);
    if (turn.text === 'slow') await new Promise((resolve) => setTimeout(resolve, 60_000, undefined).unref());
  },
});
`;
const say = (body: string): string => `export const say = (text: string): string => ${body};\n`;

interface CallLine {
  readonly message: string;
  readonly operation?: string;
  readonly agent?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly who?: string;
  readonly dialect?: string;
  readonly cause?: { readonly stack?: string; readonly message?: string };
}

describe('parley dev', () => {
  let node: Parley;
  const log = (): readonly CallLine[] =>
    node
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as CallLine);
  const logged = async (pattern: RegExp): Promise<CallLine | undefined> => {
    await eventually(() => log().some(({ message }) => pattern.test(message)));
    return log().find(({ message }) => pattern.test(message));
  };
  const ask = (text: string): string => parley(['ask', node.url, text]).out;

  beforeAll(async () => {
    write('agent.ts', agent('parrot'));
    write('say.ts', say('text'));
    node = await parleyServe({ command: ['dev'], cwd, env: { XDG_DATA_HOME: join(cwd, 'data') } });
  });
  afterAll(() => node.kill());

  it('serves agent.ts of the folder, and logs each call', async () => {
    expect(node.agents).toEqual(['parrot']);
    expect(ask('hello')).toBe('hello\n');
    const call = await logged(/^call$/);
    expect(call).toMatchObject({ who: 'local', dialect: 'v10', operation: 'stream', agent: 'parrot', state: 'completed', outcome: 'ok' });
  });

  it('logs requests that reach no agent', async () => {
    await fetch(`${node.url}/nothing`);
    await eventually(() => log().some(({ operation, outcome }) => operation === 'GET /nothing' && outcome === '404'));
  });

  it('uses a changed file at once, also one that the agent imports, and keeps its tasks and open streams', async () => {
    const body = { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'slow' }] } };
    const headers = { 'Content-Type': 'application/json' };
    const stream = await fetch(`${node.url}/message:stream`, { method: 'POST', headers, body: JSON.stringify(body) });
    const reader = (stream.body ?? new ReadableStream<Uint8Array>()).getReader();
    await reader.read();
    write('say.ts', say('text.toUpperCase()'));
    await logged(/^say\.ts changed: parrot is loaded again$/);
    expect(ask('hello')).toBe('HELLO\n');
    // A read that is still pending: the stream of the old code is open.
    const next = reader.read().then(() => 'more');
    expect(await Promise.race([next, fetch(`${node.url}/tasks`).then((response) => response.json())])).toSatisfy(
      (first) => first === 'more' || first.totalSize === 3,
    );
    expect(parley(['task', 'list', '-a', node.url, '--output', 'json']).out.match(/TASK_STATE_WORKING/g)).toHaveLength(1);
    await reader.cancel();
  });

  it('reports a file that can’t be loaded, and continues with the agent as it was', async () => {
    write('say.ts', 'export const say = (text: string: string => text;\n');
    await logged(/^say\.ts changed and can't be loaded; parrot stays as it was$/);
    expect(log().at(-1)?.cause?.stack).toMatch(/say\.ts/);
    expect(ask('hello')).toBe('HELLO\n');
    write('agent.ts', agent('parrot').replace('./say.ts', './talk.ts'));
    await logged(/^agent\.ts changed and can't be loaded/);
    write('talk.ts', say("text.concat('?')"));
    await logged(/^talk\.ts changed: parrot is loaded again$/);
    expect(ask('hello')).toBe('hello?\n');
  });

  it('gives the agent its new name and card', async () => {
    write('agent.ts', agent('magpie').replace('./say.ts', './talk.ts'));
    await logged(/^agent\.ts changed: magpie is loaded again, and is no longer called parrot$/);
    const card = (await (await fetch(`${node.url}/.well-known/agent-card.json`)).json()) as { readonly name: string };
    expect(card.name).toBe('magpie');
    expect(parley(['ask', `${node.url}/agents/magpie`, 'hello']).out).toBe('hello?\n');
  });

  it('logs an exception of the agent with the place in its file', async () => {
    expect(parley(['ask', node.url, 'bad']).code).toBe(1);
    const failed = await logged(/^agent magpie failed$/);
    expect(failed?.cause).toMatchObject({
      message: 'this text is not for me',
      stack: expect.stringMatching(/agent\.ts\?generation=\d+:8:/),
    });
  });

  it('stops as parley serve does, although an agent waits for ever', async () => {
    expect(await node.stop()).toBe(0);
    expect(node.lines().at(-1)).toBe('{"event":"stopped"}');
  });
});

describe('parley dev without an agent', () => {
  it('says what to type', () => {
    const { code, err } = parley(['dev', '--port', '0']);
    expect([code, err]).toEqual([2, expect.stringMatching(/there is no agent\.ts in this folder[\s\S]*parley dev FILE/)]);
  });
});
