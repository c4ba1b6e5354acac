import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type {
  ClientCapabilities,
  ClientContext,
  CreateElicitationRequest,
  RequestPermissionRequest,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifact, ask, auth, complete, defineAgent, fail, reject, status } from '#agents';
import { acpDriver } from '../../src/agents/acp/driver.ts';
import { runningAgent } from '../../src/agents/run/agent.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startServer } from '../support/server.ts';
import { talkTo } from '../support/talk.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const commandFor = (url: string, more: readonly string[] = []): readonly string[] => [
  ...[process.execPath, '--conditions=our-src', '--disable-warning=ExperimentalWarning', MAIN, 'acp', url],
  ...more,
];

const told = (event: string, text: string, more: object): ReturnType<typeof status> =>
  status([{ text }, { data: { type: event, ...more } }], { event });
const worker = defineAgent({
  name: 'worker',
  description: 'Does what the message names.',
  inputModes: ['*/*'],
  outputModes: ['*/*'],
  skills: [
    { id: 'work', description: 'Works.' },
    { id: 'rest', description: 'Rests.' },
  ],
  async *run(turn) {
    if (turn.text === 'fail') return fail('The disk is full.');
    if (turn.text === 'reject') return reject('Not my job.');
    if (turn.text === 'skill') return `${JSON.stringify(turn.message.metadata ?? {})}`;
    if (turn.text === 'colour') return ask('Which colour?');
    if (turn.text === 'sign in') {
      yield auth('Please sign in at https://login.example/device.');
      return undefined;
    }
    if (turn.text === 'wait') {
      yield 'Waiting';
      await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
      return undefined;
    }
    if (turn.text.startsWith('parts')) return turn.parts.map(({ text, raw, filename }) => `${filename ?? '-'}=${text ?? raw}`).join('; ');
    if (turn.history.length > 0) return `You said ${turn.text}`;
    yield status('I think.', { event: 'thought' });
    yield told('plan', 'Plan:', { entries: [{ content: 'Fix it', status: 'in_progress', priority: 'high' }] });
    yield told('tool_use', 'Using tool: edit', {
      id: 't1',
      tool: 'edit',
      kind: 'edit',
      title: 'Edit a.ts',
      input: { path: 'a.ts' },
      paths: ['/w/a.ts'],
    });
    const options = [
      { optionId: 'ok', name: 'Allow', kind: 'allow_once' },
      { optionId: 'nok', name: 'Reject', kind: 'reject_once' },
    ] as const;
    const answer = await turn.ask('Edit the file?', { options });
    yield told('tool_result', 'Tool result', {
      id: 't1',
      isError: false,
      output: 'changed',
      diffs: [{ path: '/w/a.ts', oldText: 'a', newText: 'b' }],
    });
    yield artifact({ name: 'picture', parts: [{ raw: 'aGk=', mediaType: 'image/png' }] });
    yield `Chosen: ${answer.option}`;
    return complete('Done.');
  },
});

interface Editor {
  readonly updates: SessionUpdate[];
  readonly asked: (RequestPermissionRequest | CreateElicitationRequest)[];
}

/** Plays an editor that started `parley acp` as its agent. */
async function editing<Result>(
  {
    url,
    capabilities = {},
    choose = 'ok',
    args = [],
  }: { readonly url: string; readonly capabilities?: ClientCapabilities; readonly choose?: string; readonly args?: readonly string[] },
  act: (agent: ClientContext, editor: Editor) => Promise<Result>,
): Promise<Result> {
  const [program = '', ...rest] = commandFor(url, args);
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const editor: Editor = { updates: [], asked: [] };
  const app = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => void editor.updates.push(params.update))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: `content of ${params.path}` }))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      editor.asked.push(params);
      return { outcome: choose === '' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: choose } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      editor.asked.push(params);
      return { action: 'accept', content: { answer: 'blue' } };
    });
  try {
    const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
    return await app.connectWith(stream, async (agent) => {
      await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities });
      return await act(agent, editor);
    });
  } finally {
    child.kill();
  }
}

const newSession = async (agent: ClientContext): Promise<string> =>
  (await agent.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] })).sessionId;
const prompt = async (agent: ClientContext, sessionId: string, text: string): Promise<string> =>
  (await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })).stopReason;
const saidIn = ({ updates }: Editor): string =>
  updates
    .flatMap((update) => (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : []))
    .join('');

let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ agents: [worker] });
});
afterAll(() => server.close());

describe('parley acp, with the client of the ACP SDK', () => {
  it('streams text, thoughts, plans, tool calls and files, and asks for permission', async () => {
    await editing({ url: server.url }, async (agent, editor) => {
      const session = await newSession(agent);
      expect(await prompt(agent, session, 'go')).toBe('end_turn');
      expect(editor.asked).toMatchObject([
        { sessionId: session, toolCall: { title: 'Edit the file?' }, options: [{ optionId: 'ok', kind: 'allow_once' }, {}] },
      ]);
      expect(editor.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
        ...['agent_thought_chunk', 'plan', 'tool_call', 'tool_call_update'],
        ...['agent_message_chunk', 'agent_message_chunk', 'agent_message_chunk'],
      ]);
      expect(editor.updates[1]).toMatchObject({ entries: [{ content: 'Fix it', status: 'in_progress', priority: 'high' }] });
      expect(editor.updates[2]).toMatchObject({
        title: 'Edit a.ts',
        kind: 'edit',
        status: 'in_progress',
        locations: [{ path: '/w/a.ts' }],
      });
      expect(editor.updates[3]).toMatchObject({
        status: 'completed',
        content: [{ type: 'content' }, { type: 'diff', path: '/w/a.ts', newText: 'b' }],
      });
      expect(editor.updates[4]).toMatchObject({ content: { type: 'image', data: 'aGk=' } });
      expect(saidIn(editor)).toBe('Chosen: ok\n\nDone.');
    });
  });

  it('passes a rejection on, and keeps the task when the user answers nothing', async () => {
    await editing({ url: server.url, choose: 'nok' }, async (agent, editor) => {
      await prompt(agent, await newSession(agent), 'go');
      expect(saidIn(editor)).toContain('Chosen: nok');
    });
    await editing({ url: server.url, choose: '' }, async (agent, editor) => {
      const session = await newSession(agent);
      expect(await prompt(agent, session, 'go')).toBe('cancelled');
      expect(await prompt(agent, session, 'Allow')).toBe('end_turn');
      expect(saidIn(editor)).toContain('Chosen: ok');
    });
  });

  it('asks a question as a form, or as text that the next prompt answers', async () => {
    await editing({ url: server.url, capabilities: { elicitation: { form: {} } } }, async (agent, editor) => {
      await prompt(agent, await newSession(agent), 'colour');
      expect(editor.asked).toMatchObject([{ mode: 'form', message: 'Which colour?', requestedSchema: { required: ['answer'] } }]);
      expect(saidIn(editor)).toBe('You said blue');
    });
    await editing({ url: server.url }, async (agent, editor) => {
      const session = await newSession(agent);
      await prompt(agent, session, 'colour');
      expect(saidIn(editor)).toContain('Which colour?');
      await prompt(agent, session, 'red');
      expect(saidIn(editor)).toContain('You said red');
    });
    await editing({ url: server.url, capabilities: { elicitation: { url: {} } } }, async (agent, editor) => {
      await prompt(agent, await newSession(agent), 'sign in');
      expect(editor.asked).toMatchObject([{ mode: 'url', url: 'https://login.example/device.' }]);
    });
  });

  it('sends images, embedded files, and the text of linked files', async () => {
    await editing({ url: server.url, capabilities: { fs: { readTextFile: true, writeTextFile: false } } }, async (agent, editor) => {
      const sessionId = await newSession(agent);
      await agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [
          { type: 'text', text: 'parts' },
          { type: 'image', data: 'aGk=', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'file:///w/b.ts', text: 'let b' } },
          { type: 'resource_link', uri: 'file:///w/c.ts', name: 'c.ts' },
          { type: 'resource', resource: { uri: 'file:///w/100%.ts', text: 'let d' } },
        ],
      });
      expect(saidIn(editor)).toBe('-=parts; -=aGk=; b.ts=let b; c.ts=content of /w/c.ts; 100%.ts=let d');
    });
  });

  it('cancels the task, and reports failures and refusals', async () => {
    await editing({ url: server.url }, async (agent, editor) => {
      const session = await newSession(agent);
      const running = prompt(agent, session, 'wait');
      await eventually(() => expect(saidIn(editor)).toBe('Waiting'));
      await agent.notify(methods.agent.session.cancel, { sessionId: session });
      expect(await running).toBe('cancelled');
      const { tasks } = (await (await fetch(`${server.url}/tasks?contextId=${session}`)).json()) as {
        tasks: { status: { state: string } }[];
      };
      expect(tasks.map(({ status: { state } }) => state)).toEqual(['TASK_STATE_CANCELED']);
      expect(await prompt(agent, session, 'reject')).toBe('refusal');
      await expect(prompt(agent, session, 'fail')).rejects.toThrow('The disk is full.');
    });
  });

  it('lists, loads and resumes sessions, which are contexts', async () => {
    const id = await editing({ url: server.url }, async (agent) => {
      const session = await newSession(agent);
      await prompt(agent, session, 'parts of a talk');
      await prompt(agent, session, 'colour');
      return session;
    });
    await editing({ url: server.url }, async (agent, editor) => {
      const { sessions } = await agent.request(methods.agent.session.list, {});
      expect(sessions.find(({ sessionId }) => sessionId === id)).toMatchObject({ title: 'colour', cwd: process.cwd() });
      await agent.request(methods.agent.session.load, { sessionId: id, cwd: process.cwd(), mcpServers: [] });
      expect(
        editor.updates.map((update) => [update.sessionUpdate, 'content' in update ? (update.content as { text: string }).text : '']),
      ).toEqual([
        ['user_message_chunk', 'parts of a talk'],
        ['agent_message_chunk', '-=parts of a talk'],
        ['user_message_chunk', 'colour'],
        ['agent_message_chunk', 'Which colour?'],
      ]);
      await prompt(agent, id, 'green');
      expect(saidIn(editor)).toContain('You said green');
      await agent.request(methods.agent.session.resume, { sessionId: id, cwd: process.cwd() });
      await expect(
        agent.request(methods.agent.session.load, { sessionId: 'nobody', cwd: process.cwd(), mcpServers: [] }),
      ).rejects.toThrow();
    });
  });

  it('says so where the caller may not list sessions', async () => {
    const closed = await startServer({ agents: [worker], authenticate: () => ({ principal: { id: 'ann', scopes: ['tasks:write'] } }) });
    await editing({ url: closed.url }, (agent) => expect(agent.request(methods.agent.session.list, {})).rejects.toThrow());
    await closed.close();
  });

  it('offers skills and given modes as modes', async () => {
    await editing({ url: server.url, args: ['--mode', 'plan'] }, async (agent, editor) => {
      const { sessionId, modes } = await agent.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
      expect(modes?.availableModes.map(({ id }) => id)).toEqual(['default', 'plan', 'skill:work', 'skill:rest']);
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: 'skill:rest' });
      await prompt(agent, sessionId, 'skill');
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: 'plan' });
      await prompt(agent, sessionId, 'skill');
      expect(saidIn(editor)).toBe('{"skillId":"rest"}{"mode":"plan"}');
      await expect(agent.request(methods.agent.session.setMode, { sessionId, modeId: 'none' })).rejects.toThrow('there is no mode none');
    });
  });
});

describe('a circle: an A2A agent that runs an ACP agent that is an A2A agent', () => {
  it('keeps text, tool calls and approvals', async () => {
    const folder = realpathSync(scratchFolder());
    const driver = acpDriver({ name: 'circle', argv: commandFor(server.url), environment: [], homePaths: [], projectConfig: [] });
    const about = { name: 'circle', description: 'Around.' };
    const talk = await talkTo(runningAgent(driver, about, { cwd: folder, state: scratchFolder(), sandbox: 'plain', env: process.env }));
    try {
      const asked = await talk.task('go');
      expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const done = await talk.task('y', { taskId: asked.id });
      expect(done.status.state).toBe('TASK_STATE_COMPLETED');
      expect(JSON.stringify(done.artifacts)).toContain('Chosen: ok');
      expect(JSON.stringify(done.history)).toContain('Edit a.ts');
    } finally {
      await talk.stop();
    }
  });
});
