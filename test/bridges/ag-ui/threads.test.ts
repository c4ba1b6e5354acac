import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, auth, defineAgent } from '#agents';
import { createAgentPartsMessage } from '#protocol';
import type { NodeServer } from '../../../src/server/adapters/node.ts';
import { eventually } from '../../support/eventually.ts';
import { builtIn, startServer } from '../../support/server.ts';
import type { FrontEnd } from './front-end.ts';
import { CLIENTS, eventsIn, post, run, runBody, say } from './front-end.ts';

interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly responseSchema?: { readonly properties: object };
}

const approver = defineAgent({
  name: 'approver',
  description: 'Asks before it acts.',
  async *run(turn) {
    if (turn.text === 'colour') return ask('Which colour?');
    if (turn.text === 'sign in') {
      yield auth([{ text: 'Please sign in.' }, { data: { url: 'https://login.example' } }]);
      return undefined;
    }
    if (turn.text === 'tool') {
      const answer = await turn.ask(
        createAgentPartsMessage([
          { text: 'Run it', metadata: { tool_call_id: 'call-1', tool_name: 'confirm', tool_args: { room: 'B2' } } },
        ]),
      );
      return `The front end said ${JSON.stringify(answer.data)}`;
    }
    if (turn.history.length > 0) return `You said ${turn.text}`;
    yield 'Wait. ';
    const options = [
      { optionId: 'ok', name: 'Allow', kind: 'allow_once' },
      { optionId: 'nok', name: 'Reject', kind: 'reject_once' },
    ] as const;
    const answer = await turn.ask('Deploy?', { options });
    return `Chosen: ${answer.option}`;
  },
});

/** Says one word, and the other one when it is released. */
const gates = new Map<string, () => void>();
const slow = defineAgent({
  name: 'slow',
  description: '',
  async *run(turn) {
    yield 'One ';
    await new Promise<void>((resolve) => {
      gates.set(turn.contextId, resolve);
      turn.signal.addEventListener('abort', () => resolve());
    });
    yield 'two.';
  },
});

let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ agents: [approver, slow] });
});
afterAll(() => server.close());

const interruptIn = (events: readonly object[]): Interrupt => {
  const last = events.at(-1) as { outcome?: { type: string; interrupts?: readonly Interrupt[] } };
  expect(last.outcome?.type).toBe('interrupt');
  const [first] = last.outcome?.interrupts ?? [];
  if (first === undefined) throw new Error('no interrupt');
  return first;
};
const stateOf = async (id: string, path = ''): Promise<string> =>
  ((await (await fetch(`${server.url}${path}/tasks/${id}`)).json()) as { status: { state: string } }).status.state;
const taskIdIn = (agent: { state: unknown }): string => (agent.state as { task: { id: string } }).task.id;

describe.each(CLIENTS)('a thread with @ag-ui/client %s', (version, make) => {
  let thread = 0;
  const open = (path = '/ag-ui'): FrontEnd => {
    thread += 1;
    return make(`${server.url}${path}`, `talk-${version}-${thread}`);
  };

  it('ends a run with an interrupt and continues the task with its resume', async () => {
    const agent = open();
    say(agent, 'deploy');
    const asked = await run(agent);
    const { id, reason, message, responseSchema } = interruptIn(asked.events);
    expect([reason, message]).toEqual(['approval', 'Deploy?']);
    expect(responseSchema).toMatchObject({ properties: { optionId: { enum: ['ok', 'nok'] } }, required: ['optionId'] });
    const task = taskIdIn(agent);
    const done = await run(agent, { resume: [{ interruptId: id, status: 'resolved', payload: { optionId: 'ok' } }] });
    expect(done.failure).toBeUndefined();
    expect(done.said).toEqual(['Wait. ', 'Deploy?', 'Chosen: ok']);
    expect(taskIdIn(agent)).toBe(task);
    const again = await run(make(`${server.url}/ag-ui`, agent.threadId));
    expect(again.said).toEqual(['Deploy?', 'Wait. Chosen: ok']);
  });

  it('takes an approval as yes or no, and a declined question as a no', async () => {
    for (const [entry, option] of [
      [{ status: 'resolved', payload: { approved: true } }, 'ok'],
      [{ status: 'resolved', payload: false }, 'nok'],
      [{ status: 'resolved', payload: 'Allow' }, 'ok'],
      [{ status: 'cancelled' }, 'nok'],
    ] as const) {
      const agent = open();
      say(agent, 'deploy');
      const { id } = interruptIn((await run(agent)).events);
      expect((await run(agent, { resume: [{ interruptId: id, ...entry }] })).said.join('')).toContain(`Chosen: ${option}`);
    }
  });

  it('cancels a task whose question has no answer that declines', async () => {
    const agent = open();
    say(agent, 'colour');
    const { id, responseSchema } = interruptIn((await run(agent)).events);
    expect(responseSchema).toMatchObject({ properties: { text: { type: 'string' } } });
    const task = taskIdIn(agent);
    const { events } = await run(agent, { resume: [{ interruptId: id, status: 'cancelled' }] });
    expect(await stateOf(task)).toBe('TASK_STATE_CANCELED');
    expect(events.at(-1)).toMatchObject(
      version === '1.0.0' ? { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } } : { type: 'RUN_ERROR', code: 'cancelled' },
    );
  });

  it('sends what the user says instead of an answer', async () => {
    const agent = open();
    say(agent, 'colour');
    const { id } = interruptIn((await run(agent)).events);
    const task = taskIdIn(agent);
    say(agent, 'sign in');
    const resume = [{ interruptId: id, status: 'cancelled' }];
    expect(interruptIn((await run(agent, { resume })).events).reason).toBe('auth_required');
    expect(await stateOf(task)).toBe('TASK_STATE_CANCELED');
  });

  it('asks in plain text where the front end wants it, and takes the next message as the answer', async () => {
    const agent = open();
    const plain = { forwardedProps: { a2a: { questions: 'text' } } };
    say(agent, 'colour');
    const asked = await run(agent, plain);
    expect(asked.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(asked.said).toEqual(['Which colour?']);
    const task = taskIdIn(agent);
    say(agent, 'blue');
    expect((await run(agent, plain)).said).toEqual(['Which colour?', 'You said blue']);
    expect(taskIdIn(agent)).toBe(task);
  });

  it('takes a message without resume as the answer although an interrupt is open', async () => {
    const agent = open();
    say(agent, 'colour');
    await run(agent);
    const fresh = make(`${server.url}/ag-ui`, agent.threadId);
    fresh.setMessages([...agent.messages]);
    say(fresh, 'green');
    expect((await run(fresh)).said.at(-1)).toBe('You said green');
  });

  it('interrupts for a sign-in with its address', async () => {
    const agent = open();
    say(agent, 'sign in');
    expect(interruptIn((await run(agent)).events)).toMatchObject({
      reason: 'auth_required',
      message: 'Please sign in.\nhttps://login.example',
    });
  });

  it('lets the front end run a tool that it offers', async () => {
    const agent = open();
    const tools = [{ name: 'confirm', description: 'Asks the user', parameters: { type: 'object' } }];
    say(agent, 'tool');
    const asked = await run(agent, { tools });
    expect(asked.types).toContain('TOOL_CALL_END');
    expect(asked.types).not.toContain('TOOL_CALL_RESULT');
    expect(asked.events.at(-1)).toMatchObject({ outcome: { type: 'success' } });
    agent.addMessage({ id: `tool-result-${version}`, role: 'tool', toolCallId: 'call-1', content: 'yes' });
    expect((await run(agent, { tools })).said.at(-1)).toBe('The front end said "yes"');
    const other = open();
    say(other, 'tool');
    expect(interruptIn((await run(other)).events).reason).toBe('input_required');
  });

  it('shows the messages of a thread that is opened again', async () => {
    const agent = open();
    for (const words of ['colour', 'red', 'tool']) {
      say(agent, words);
      await run(agent, { forwardedProps: { a2a: { questions: 'text' } } });
    }
    const again = make(`${server.url}/ag-ui`, agent.threadId);
    const { types, failure } = await run(again);
    expect(failure).toBeUndefined();
    expect(types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'CUSTOM', 'STATE_SNAPSHOT', 'RUN_FINISHED']);
    expect((await run(make(`${server.url}/ag-ui`, 'a-thread-that-nobody-knows'))).types).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'RUN_FINISHED',
    ]);
    expect(again.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'colour'],
      ['assistant', 'Which colour?'],
      ['user', 'red'],
      ['assistant', 'You said red'],
      ['user', 'tool'],
      ['assistant', 'Run it'],
    ]);
    expect(again.messages.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(
      agent.messages.filter(({ role }) => role === 'user').map(({ id }) => id),
    );
    const waiting = open();
    say(waiting, 'colour');
    await run(waiting);
    expect(interruptIn((await run(make(`${server.url}/ag-ui`, waiting.threadId))).events).message).toBe('Which colour?');
  });

  it('keeps a task running after a hang-up, and shows the rest when the thread is opened again', async () => {
    const agent = open('/agents/slow/ag-ui');
    say(agent, 'go');
    const running = run(agent);
    await eventually(() => expect(agent.messages.length).toBe(2));
    agent.abortRun();
    await running;
    const task = taskIdIn(agent);
    const again = make(`${server.url}/agents/slow/ag-ui`, agent.threadId);
    const rest = run(again);
    await eventually(() => expect(again.messages.at(-1)?.content).toBe('One '));
    gates.get(agent.threadId)?.();
    expect((await rest).events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(await stateOf(task, '/agents/slow')).toBe('TASK_STATE_COMPLETED');
    expect(again.messages.map(({ content }) => content)).toEqual(['go', 'One two.']);
  });

  it('cancels the task at a hang-up where the front end wants it', async () => {
    const agent = open('/agents/slow/ag-ui');
    say(agent, 'go');
    const running = run(agent, { forwardedProps: { a2a: { onHangUp: 'cancel' } } });
    await eventually(() => expect(agent.messages.length).toBe(2));
    agent.abortRun();
    await running;
    await eventually(async () => expect(await stateOf(taskIdIn(agent), '/agents/slow')).toBe('TASK_STATE_CANCELED'));
  });
});

describe('the node', () => {
  it('ends a run with RUN_ERROR when it shuts down', async () => {
    const node = await startServer({ agents: [builtIn('script')], limits: { drainMsMax: 500 } });
    const response = await post(
      `${node.url}/ag-ui`,
      runBody('stop', { messages: [{ id: 'long-message-of-stop', role: 'user', content: 'sleep=60000' }] }),
    );
    await node.close();
    expect(eventsIn(await response.text()).at(-1)).toMatchObject({ type: 'RUN_ERROR' });
  });

  it('keeps only the newest messages of a large thread', async () => {
    const old = Array.from({ length: 1500 }, (_, at) => ({
      id: `old-${at}`,
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: 'x'.repeat(1000),
    }));
    const messages = [...old, { id: 'the-newest-message', role: 'user', content: 'colour' }];
    const response = await post(`${server.url}/ag-ui`, runBody('large', { messages }));
    const events = eventsIn(await response.text());
    const [task] = events.flatMap(({ type, value }) => (type === 'CUSTOM' ? [(value as { taskId: string }).taskId] : []));
    const { history } = (await (await fetch(`${server.url}/tasks/${task}`)).json()) as { history: { parts: { text: string }[] }[] };
    expect(history.flatMap(({ parts }) => parts.map(({ text }) => text))).not.toContain('x'.repeat(1000));
    const small = await startServer({ limits: { agUiBodyBytesMax: 1000 } });
    const refused = await post(`${small.url}/ag-ui`, runBody('large', { messages }));
    expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining('agUiBodyBytesMax')]);
    await small.close();
  });

  it('shows an earlier thread to its own caller only', async () => {
    const keyed = await startServer({
      agents: [approver],
      authenticate: (request) => ({ principal: { id: request.header('authorization') ?? 'nobody', scopes: ['*'] } }),
    });
    const ran = await post(
      `${keyed.url}/ag-ui`,
      runBody('shared', { messages: [{ id: 'secret-message-1', role: 'user', content: 'colour' }] }),
      {
        Authorization: 'ann',
      },
    );
    await ran.text();
    const reopened = async (who: string): Promise<string> =>
      await (await post(`${keyed.url}/ag-ui`, runBody('shared', { messages: [] }), { Authorization: who })).text();
    expect(await reopened('ann')).toContain('Which colour?');
    expect(await reopened('bob')).not.toContain('Which colour?');
    await keyed.close();
  });
});
