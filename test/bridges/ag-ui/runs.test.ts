import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifact, ask, complete, data, defineAgent, fail, message, reject, status } from '#agents';
import type { NodeServer } from '../../../src/server/adapters/node.ts';
import { startServer } from '../../support/server.ts';
import type { FrontEnd } from './front-end.ts';
import { CLIENTS, eventsIn, post, run, runBody, say } from './front-end.ts';

const talker = defineAgent({
  name: 'talker',
  description: 'Does what the message names.',
  inputModes: ['*/*'],
  outputModes: ['*/*'],
  async *run(turn) {
    if (turn.text === 'message') return message('Directly.');
    if (turn.text === 'fail') return fail('The disk is full.');
    if (turn.text === 'reject') return reject('Not my job.');
    if (turn.text === 'files') {
      yield artifact({
        id: 'plot',
        name: 'plot',
        parts: [{ raw: 'aGk=', mediaType: 'image/png', filename: 'a.png' }, { text: 'A plot.' }],
      });
      yield data({ total: 42 }, { name: 'sum' });
      return complete('Two files.');
    }
    if (turn.text === 'replace') {
      yield artifact({ id: 'draft', parts: [{ text: 'First' }] });
      yield artifact({ id: 'draft', parts: [{ text: 'Second' }] });
      return undefined;
    }
    if (turn.text === 'parts') return `${turn.files.map(({ raw, url, mediaType }) => `${raw ?? url} ${mediaType}`).join(', ')}`;
    if (turn.text === 'beside') return JSON.stringify(turn.message.metadata);
    yield status('Looking');
    yield 'Hello ';
    yield `${turn.contextId}`;
    return undefined;
  },
});
const work = defineAgent({
  name: 'work',
  description: 'Reports its work as coding agents do.',
  async *run() {
    const told = (event: string, text: string, more: object): ReturnType<typeof status> =>
      status([{ text }, { data: { type: event, ...more } }], { event });
    yield status('I think.', { event: 'thought' });
    yield told('plan', 'Plan:', {
      entries: [
        { content: 'Look', status: 'completed' },
        { content: 'Fix', status: 'pending' },
      ],
    });
    yield 'Before. ';
    yield told('tool_use', 'Using tool: read', { id: 't1', tool: 'read', input: { path: 'a.ts' } });
    yield told('tool_result', 'Tool result: x', { id: 't1', tool: 'read', isError: false, output: 'x = 1' });
    yield told('tool_use', 'Using tool: run', { id: 't2', tool: 'run' });
    yield told('workflow_node_execution_start', 'check: started', { node_id: 'check', path: 'check', agent_name: 'checker' });
    yield told('workflow_node_execution_result', 'check: success', { node_id: 'check', path: 'check', status: 'success' });
    yield told('tool_use', 'Calling writer', { id: 't3', tool: 'delegate', agent: 'writer' });
    yield 'After.';
  },
});
const asker = defineAgent({
  name: 'asker',
  description: '',
  run: () => ask('Why?'),
});

let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ agents: [talker, work, asker] });
});
afterAll(() => server.close());

describe.each(CLIENTS)('a run with @ag-ui/client %s', (version, make) => {
  let thread = 0;
  const open = (path = '/ag-ui'): FrontEnd => {
    thread += 1;
    return make(`${server.url}${path}`, `thread-${version}-${thread}`);
  };

  it('is one message to the agent in the context of the thread', async () => {
    const agent = open();
    say(agent, 'hi');
    const { types, said, failure, events } = await run(agent);
    expect(failure).toBeUndefined();
    expect(said).toEqual([`Hello ${agent.threadId}`]);
    expect(types).toEqual([
      'RUN_STARTED',
      'CUSTOM',
      'STATE_SNAPSHOT',
      'ACTIVITY_SNAPSHOT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'STATE_DELTA',
      'TEXT_MESSAGE_END',
      'STATE_DELTA',
      'RUN_FINISHED',
    ]);
    expect(events[3]).toMatchObject({ activityType: 'a2a.progress', content: { text: 'Looking' }, replace: true });
    expect(events.at(-1)).toMatchObject({ threadId: agent.threadId, outcome: { type: 'success' } });
    const state = agent.state as { task: { id: string; state: string }; artifacts: Record<string, { parts: unknown }> };
    expect(state).toMatchObject({ task: { state: 'TASK_STATE_COMPLETED' }, artifacts: { response: { parts: [{ text: said[0] }] } } });
    expect(((await (await fetch(`${server.url}/tasks/${state.task.id}`)).json()) as { contextId: string }).contextId).toBe(agent.threadId);
  });

  it('shows a direct message', async () => {
    const agent = open();
    say(agent, 'message');
    expect(await run(agent)).toMatchObject({ said: ['Directly.'], failure: undefined });
  });

  it('keeps files and data as activities and in the state, without their bytes', async () => {
    const agent = open();
    say(agent, 'files');
    const { events, said } = await run(agent);
    expect(said).toEqual(['A plot.', 'Two files.']);
    const shown = events.filter(({ type }) => type === 'ACTIVITY_SNAPSHOT');
    expect(shown).toMatchObject([
      { activityType: 'a2a.artifact', content: { artifactId: 'plot', name: 'plot', parts: [{ raw: 'aGk=', filename: 'a.png' }] } },
      { activityType: 'a2a.artifact', content: { name: 'sum', parts: [{ data: { total: 42 } }] } },
    ]);
    expect(agent.state).toMatchObject({
      artifacts: { plot: { parts: [{ mediaType: 'image/png', filename: 'a.png', bytes: 3 }, { text: 'A plot.' }] } },
    });
    expect(JSON.stringify(agent.state)).not.toContain('aGk=');
    const again = await run(make(`${server.url}/ag-ui`, agent.threadId));
    expect(again.events.filter(({ type }) => type === 'ACTIVITY_SNAPSHOT')).toEqual(shown);
  });

  it('shows a replaced text as another message', async () => {
    const agent = open();
    say(agent, 'replace');
    expect(await run(agent)).toMatchObject({ said: ['First', 'Second'], failure: undefined });
  });

  it('ends with RUN_ERROR when the task fails or is rejected', async () => {
    for (const [word, code, reason] of [
      ['fail', 'task_failed', 'The disk is full.'],
      ['reject', 'task_rejected', 'Not my job.'],
    ] as const) {
      const agent = open();
      say(agent, word);
      const { events } = await run(agent);
      expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code, message: reason });
    }
  });

  it('shows thoughts, plans, tool calls and sub-agents, and closes all of them', async () => {
    const agent = open('/agents/work/ag-ui');
    say(agent, 'go');
    const { types, events, failure, said } = await run(agent);
    expect(failure).toBeUndefined();
    expect(said.filter((text) => text !== '')).toEqual(['Before. ', 'After.']);
    expect(types).toEqual(expect.arrayContaining(['REASONING_MESSAGE_CONTENT', 'SUBAGENT_STARTED', 'SUBAGENT_FINISHED']));
    expect(events.find(({ type }) => type === 'TOOL_CALL_ARGS')).toMatchObject({ delta: '{"path":"a.ts"}' });
    expect(events.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject([{ content: 'x = 1' }, { content: '' }]);
    expect(events.filter(({ type }) => type === 'SUBAGENT_STARTED')).toMatchObject([{ name: 'checker' }, { name: 'writer' }]);
    expect(events.find(({ activityType }) => activityType === 'a2a.plan')).toMatchObject({
      content: {
        entries: [
          { content: 'Look', status: 'completed' },
          { content: 'Fix', status: 'pending' },
        ],
      },
    });
  });

  it('sends files of the user and what A2A has no member for', async () => {
    const agent = open();
    agent.setState({ theme: 'dark' });
    agent.addMessage({
      id: `user-with-files-${version}`,
      role: 'user',
      content: [
        { type: 'text', text: 'parts' },
        { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
        { type: 'document', source: { type: 'url', value: 'https://files.example/a.pdf', mimeType: 'application/pdf' } },
      ],
    });
    expect((await run(agent)).said).toEqual(['aGk= image/png, https://files.example/a.pdf application/pdf']);
    say(agent, 'beside');
    const { said } = await run(agent, { context: [{ description: 'locale', value: 'en' }] });
    expect(JSON.parse(said[1] ?? '')).toMatchObject({
      'urn:parley:ag-ui:v1': { context: [{ description: 'locale', value: 'en' }], state: { theme: 'dark' } },
    });
    expect(agent.state).toMatchObject({ theme: 'dark', task: {} });
  });
});

describe('the wire', () => {
  it('uses LF only, has no null, and ends with a terminal event', async () => {
    for (const [path, text] of [
      ['/ag-ui', 'hi'],
      ['/ag-ui', 'message'],
      ['/ag-ui', 'fail'],
      ['/agents/work/ag-ui', 'go'],
      ['/agents/asker/ag-ui', 'go'],
    ] as const) {
      const messages = [{ id: `wire-message-${path}-${text}`, role: 'user', content: text }];
      const response = await post(`${server.url}${path}`, runBody(`wire-${text}`, { messages }));
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const body = await response.text();
      expect(body).not.toContain('\r');
      expect(body).not.toContain('null');
      expect(['RUN_FINISHED', 'RUN_ERROR']).toContain(eventsIn(body).at(-1)?.type);
    }
  });

  it('refuses a wrong request with JSON before the stream', async () => {
    for (const [body, field] of [
      [{}, 'threadId'],
      [runBody('x'.repeat(200)), 'threadId'],
      [runBody('t', { messages: 'no' }), 'messages'],
      [runBody('t', { messages: [{ id: 'm', role: 'pilot' }] }), 'messages[0].role'],
      [runBody('t', { resume: [{ interruptId: 'i', status: 'maybe' }] }), 'resume[0].status'],
      [runBody('t', { forwardedProps: { a2a: { onHangUp: 'burn' } } }), 'forwardedProps.a2a.onHangUp'],
    ] as const) {
      const response = await post(`${server.url}/ag-ui`, body);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { field } }]);
    }
    expect((await fetch(`${server.url}/ag-ui`)).status).toBe(405);
  });
});
