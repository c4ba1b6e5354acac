import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakePrograms } from '../support/fake-cli/programs.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { parley } from './run.ts';

const folder = scratchFolder();
const { bin } = fakePrograms(['gemini', 'claude'], () => 'exit 0');

interface Row {
  readonly name: string;
  readonly found: boolean;
  readonly program: string | null;
  readonly via: string;
  readonly command: readonly string[];
  readonly approvals: boolean;
}

describe('parley agents', () => {
  it('lists the agents of this machine and their commands', () => {
    const { PATH = '' } = process.env;
    process.env['PATH'] = `${bin}${delimiter}${PATH}`;
    const { out, code } = parley(['agents', '--json']);
    process.env['PATH'] = PATH;
    expect(code).toBe(0);
    const { agents } = JSON.parse(out) as { agents: readonly Row[] };
    const row = (name: string): Row | undefined => agents.find((agent) => agent.name === name);
    expect(row('gemini')).toMatchObject({
      found: true,
      program: join(bin, 'gemini'),
      via: 'acp',
      command: ['gemini', '--acp'],
      approvals: true,
    });
    // Without its ACP adapter it is started in its own print mode.
    expect(row('claude')).toMatchObject({ found: true, program: join(bin, 'claude'), via: 'native', approvals: true });
    expect(row('goose')).toMatchObject({ found: false, program: null, command: ['goose', 'acp'] });
    expect(row('demo')).toMatchObject({ via: 'built-in' });
  });

  it('names the agents that are not installed', () => {
    const { out } = parley(['agents']);
    expect(out).toMatch(/^demo /);
    expect(out).toContain('Not installed here: ');
    expect(parley(['agents', '--all']).out).toContain('goose        not here: Goose: goose acp (acp, asks for approval)');
    expect(parley(['agents', '--nonsense']).code).toBe(2);
  });
});

interface Answer {
  readonly task: {
    readonly status: { readonly state: string };
    readonly artifacts?: readonly { readonly name?: string; readonly parts: readonly { readonly text?: string }[] }[];
  };
}

/** An agent that runs commands needs the token of this machine, also on loopback. */
const own = join(folder, 'auth');
const AUTH = ['--auth-folder', own];

async function ask(url: string, text: string): Promise<Answer['task']> {
  const body = JSON.stringify({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } });
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'A2A-Version': '1.0',
      Authorization: `Bearer ${readFileSync(join(own, 'token'), 'utf8').trim()}`,
    },
    body,
  });
  return ((await response.json()) as Answer).task;
}

describe('parley serve', () => {
  it('serves the command after --, beside other agents', async () => {
    // The arguments that the helper adds come after the command, so they belong to the command: a shell calls the first one $0.
    const server = await parleyServe({ args: ['--memory', ...AUTH, '--json', '--port', '0', 'echo', '--', 'sh', '-c', 'tr a-z A-Z'] });
    expect(server.agents).toEqual(['echo', 'sh']);
    const task = await ask(`${server.url}/agents/sh`, 'shout --help');
    expect(task.artifacts?.find(({ name }) => name === 'assistant-response')?.parts[0]?.text).toBe('SHOUT --HELP');
    expect(await server.stop()).toBe(0);
  });

  it('uses AGENT_ADAPTER with AGENT_BINARY and AGENT_ARGS, and warns about AGENT_FORCE', async () => {
    const env = { AGENT_ADAPTER: 'generic', AGENT_BINARY: 'printf', AGENT_ARGS: '%s|%s "one two"', AGENT_FORCE: 'true' };
    const server = await parleyServe({ args: ['--memory', ...AUTH], env });
    const task = await ask(server.url, 'three');
    expect(task.artifacts?.find(({ name }) => name === 'assistant-response')?.parts[0]?.text).toBe('one two|three');
    expect(server.errors()).toContain('DANGEROUS: every permission is granted without asking');
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as { readonly description: string };
    expect(card.description).toContain('It does everything without asking.');
    expect(await server.stop()).toBe(0);
  });

  it.each([
    [['--rule', 'permit:x', '--', 'cat'], 'is no rule'],
    [['--approve-pattern', '(', '--', 'cat'], '--approve-pattern'],
    [['--cwd', '/no/such/folder', '--', 'cat'], 'there is no folder'],
    [['--sandbox', 'jail', '--', 'cat'], 'not one of auto, bubblewrap, limits, plain'],
    [['--'], 'there is no command after --'],
  ])('refuses %j', (args, words) => {
    const run = parley(['serve', '--memory', '--port', '0', ...args]);
    expect(run.err).toContain(words);
    expect(run.code).toBe(2);
  });
});
