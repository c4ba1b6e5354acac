import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message, Task } from '#protocol';
import { behave, contextId, createDataPart, createUserMessage, isDataPart, LOCAL_PRINCIPAL } from '#protocol';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { cortex } from '../../src/protocol/dialects/cortex/dialect.ts';
import { eventually } from '../support/eventually.ts';
import { keysOf } from '../support/key-ring.ts';
import { handlerOf, jsonRequest } from '../support/server.ts';
import { callContext, statusText, talkTo } from '../support/talk.ts';
import { talking, world } from './acp-world.ts';

const artifactText = (task: Task, wanted: string): string =>
  (task.artifacts ?? [])
    .filter(({ name }) => name === wanted)
    .flatMap(({ parts }) => parts)
    .map(({ text }) => text ?? '')
    .join('');
const answer = (task: Task): string => artifactText(task, 'assistant-response');
const dataOf = (message: Message | undefined): unknown => message?.parts.find(isDataPart)?.data;
const told = (task: Task): readonly unknown[] => (task.history ?? []).map(dataOf).filter((data) => data !== undefined);

describe('an agent over the Agent Client Protocol', () => {
  it('streams thought, plan, answer and usage', async () => {
    const events = await talking(world().agent(), (talk) => talk.stream('hello'));
    const task = events.at(-1)?.statusUpdate?.status.state;
    expect(task).toBe('TASK_STATE_COMPLETED');
    const text = events.flatMap(({ artifactUpdate }) =>
      artifactUpdate?.artifact.artifactId === 'assistant-response' ? artifactUpdate.artifact.parts : [],
    );
    expect(text.map((part) => part.text)).toEqual(['', 'Hello, ', 'world.']);
    const kinds = events.map(({ statusUpdate }) => statusUpdate?.metadata?.['event']).filter((kind) => kind !== undefined);
    expect(kinds).toEqual(['init', 'thought', 'plan']);
    const result = events.at(-2)?.artifactUpdate?.artifact;
    expect(result?.name).toBe('result');
    expect(result?.parts[0]?.data).toMatchObject({
      adapter: 'fake',
      stopReason: 'end_turn',
      summary: 'Hello, world.',
      stats: { totalTokens: 1200, costUsd: 0.25 },
    });
  });

  it('edits files in the folder and reports their diffs', async () => {
    const { agent, cwd } = world();
    writeFileSync(join(cwd, 'a.txt'), 'old\n');
    execFileSync('git', ['init', '-q'], { cwd });
    const task = await talking(agent(), (talk) => talk.task('edit a.txt'));
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('new\n');
    expect(told(task)).toContainEqual(
      expect.objectContaining({
        type: 'tool_use',
        kind: 'edit',
        diffs: [{ path: join(cwd, 'a.txt'), oldText: 'old\n', newText: 'new\n' }],
      }),
    );
    const changed = task.artifacts?.find(({ name }) => name === 'a.txt');
    expect(changed?.parts[0]?.text).toContain('-old\n+new\n');
    expect(changed?.parts.find(isDataPart)?.data).toMatchObject({ path: 'a.txt', change: 'modified' });
    expect(execFileSync('git', ['count-objects'], { cwd, encoding: 'utf8' })).toMatch(/^0 objects/);
  });

  it('can’t use Parley to read or write files', async () => {
    const { agent, cwd } = world();
    writeFileSync(join(cwd, 'inside'), 'inside');
    await talking(agent(), async (talk) => {
      for (const path of [join(cwd, 'inside'), '/etc/passwd']) expect(answer(await talk.task(`read ${path}`))).toContain('refused: ');
    });
  });

  it.each([
    ['refuse', 'TASK_STATE_REJECTED', 'The agent refused to do this.'],
    ['tokens', 'TASK_STATE_FAILED', 'The agent reached the limit of tokens of its model.'],
    ['crash', 'TASK_STATE_FAILED', 'agent exited with code 7: segmentation of thought'],
  ])('%s ends as %s', async (words, state, reason) => {
    const task = await talking(world().agent(), (talk) => talk.task(words));
    expect(task.status.state).toBe(state);
    expect(statusText(task)).toBe(reason);
  });

  it('reports how to log in', async () => {
    const task = await talking(world({}, { NOT_LOGGED_IN: '1' }).agent(), (talk) => talk.task('hello'));
    expect(statusText(task)).toContain('is not logged in');
  });

  it('accepts only modes that it has', async () => {
    await talking(world().agent(), async (talk) => {
      expect((await talk.task('hello', { metadata: { mode: 'plan' } })).status.state).toBe('TASK_STATE_COMPLETED');
      const wrong = await talk.task('hello', { metadata: { mode: 'dance' } });
      expect(statusText(wrong)).toContain('there is no mode dance; there are code, plan, default');
    });
  });

  it('starts in a mode in which it asks, and lets no request change that', async () => {
    await talking(world({}, { MODE: 'auto' }).agent(), async (talk) => {
      expect(answer(await talk.task('mode'))).toBe('default');
      expect(statusText(await talk.task('hello', { metadata: { mode: 'auto' } }))).toContain('mode auto asks for no approvals');
      expect(answer(await talk.task('mode', { metadata: { mode: 'plan' } }))).toBe('plan');
    });
    await talking(world({ approvals: { otherwise: 'allow' } }, { MODE: 'auto' }).agent(), async (talk) => {
      expect(answer(await talk.task('mode'))).toBe('auto');
    });
  });

  it('is canceled gracefully', async () => {
    await talking(world().agent(), async (talk) => {
      const { task } = await talk.begin('hang');
      if (task === undefined) throw new Error('no task');
      await eventually(async () => answer(await talk.service.get({ id: task.id }, callContext())).includes('hanging'));
      expect((await talk.cancel(task.id)).status.state).toBe('TASK_STATE_CANCELED');
    });
  });
});

describe('a budget', () => {
  it('that is spent ends the run', async () => {
    const task = await talking(world().agent(), (talk) => talk.task('hello', { metadata: { budgetUsd: 0.1 } }));
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(statusText(task)).toContain('the budget of 0.1 USD is spent');
  });
});

describe('S11: a permission', () => {
  it('is given in 0.3 by a message with only the context, as coding-agent-a2a documents it', async () => {
    const { auth, key } = keysOf([{ scopes: ['*'] }]);
    const handler = handlerOf({ agents: world().agent(), auth: [auth] });
    const headers = { 'X-API-Key': key(0) };
    const send = async (text: string, more = {}): Promise<{ contextId: string; id: string; status: { state: string } }> => {
      const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...more };
      const body = { jsonrpc: '2.0', id: 4, method: 'message/send', params: { message } };
      return ((await (await handler.fetch(jsonRequest('http://localhost/a2a/jsonrpc', body, headers))).json()) as { result: never }).result;
    };
    const waiting = await send('ask make');
    expect(waiting.status.state).toBe('input-required');
    const done = await send('y', { contextId: waiting.contextId });
    expect([done.id, done.status.state]).toEqual([waiting.id, 'completed']);
    expect(JSON.stringify(done)).toContain('answer yes-once');
    await handler.close();
  });

  it.each([
    ['y', 'answer yes-once'],
    ['n', 'answer no'],
    ['Always allow', 'answer yes-always'],
    ['yes-once', 'answer yes-once'],
  ])('is given or not by %j', async (words, expected) => {
    await talking(world().agent(), async (talk) => {
      const waiting = await talk.task('ask rm -rf');
      expect(waiting.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(statusText(waiting)).toBe('Approve: Run rm -rf? Answer y or n, or one of: Allow, Always allow, Reject.');
      expect(dataOf(waiting.status.message)).toMatchObject({
        ...{ type: 'approval_required', kind: 'execute', input: { command: 'rm -rf' } },
        options: [{ optionId: 'yes-once', kind: 'allow_once' }, { optionId: 'yes-always' }, { optionId: 'no' }],
      });
      expect(answer(await talk.task(words, { taskId: waiting.id }))).toBe(expected);
    });
  });

  it('does not block another task of its context', async () => {
    await talking(world().agent(), async (talk) => {
      const waiting = await talk.task('ask make');
      const other = await talk.task('hello', { contextId: contextId(String(waiting.contextId)) });
      expect(other.status.state).toBe('TASK_STATE_REJECTED');
      expect(statusText(other)).toContain(`Task ${waiting.id} of this conversation waits for an answer.`);
      expect(answer(await talk.task('y', { taskId: waiting.id }))).toBe('answer yes-once');
    });
  });

  it('is asked for again if free text answers it by context', async () => {
    await talking(world().agent(), async ({ service, task }) => {
      const waiting = await task('ask make');
      const ctx = { principal: LOCAL_PRINCIPAL, dialect: cortex.id, extensions: [], signal: new AbortController().signal };
      const message = createUserMessage('what for?', { contextId: contextId(String(waiting.contextId)) });
      const again = await behave(service, cortex.traits).send({ message }, ctx);
      expect(again.task).toMatchObject({ id: waiting.id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
      expect(answer(await task('n', { taskId: waiting.id }))).toBe('answer no');
    });
  });

  it('is distinguished from another pending permission', async () => {
    await talking(world().agent(), async (talk) => {
      const first = await talk.task('two');
      const asked = dataOf(first.status.message) as { readonly requestId: string };
      // An option of another question does not answer this one.
      const wrong = await talk.task([createDataPart({ requestId: 'call-0', optionId: 'yes-once' })], { taskId: first.id });
      expect(statusText(wrong)).toContain('That was none of the options. Approve: Run first?');
      const second = await talk.task([createDataPart({ requestId: asked.requestId, optionId: 'yes-once' })], { taskId: first.id });
      expect(statusText(second)).toContain('Approve: Run second?');
      expect(answer(await talk.task('n', { taskId: first.id }))).toBe('answers yes-once no');
    });
  });

  it('is decided by the policy, by tool, kind and path', async () => {
    const approvals = { rules: [{ kind: 'execute', decision: 'deny' as const }] };
    const task = await talking(world({ approvals }).agent(), (talk) => talk.task('ask make'));
    expect(answer(task)).toBe('answer no');
  });
});

describe('a session', () => {
  const inContext = { contextId: contextId('c-1') };

  it('continues with the next message, also after a restart, and belongs to its caller', async () => {
    const { agent } = world();
    await talking(agent(), (talk) => talk.task('hello one', inContext));
    await talking(agent(), async (talk) => {
      // Messages that the agent replays when it loads the session are not sent again.
      expect(answer(await talk.task('what', inContext))).toBe('you said: hello one | what');
      expect(answer(await talk.task('what', { contextId: contextId('c-2') }))).toBe('you said: what');
    });
  });

  it('that is lost is replaced by a new one, with a notice', async () => {
    const { agent, state } = world();
    await talking(agent(), (talk) => talk.task('hello', inContext));
    rmSync(join(state, 'fake'), { recursive: true });
    const task = await talking(agent(), (talk) => talk.task('what', inContext));
    expect(answer(task)).toBe('you said: what');
    expect(JSON.stringify(task.history)).toContain('The earlier session is lost');
  });

  it('that another node has fails each message with the reason, and continues on its node', async () => {
    const [here, there] = [world(), world()];
    const store = memoryStore();
    const on = async (node: typeof here, text: string): Promise<Task> => {
      const talk = await talkTo(node.agent(), { store });
      return talk.task(text, inContext).finally(talk.stop);
    };
    await on(here, 'hello');
    for (const text of ['what', 'what else']) expect(statusText(await on(there, text))).toContain('is on another node, or was deleted');
    expect(answer(await on(here, 'what'))).toBe('you said: hello | what');
  });

  it.each([
    ['y', 'again yes-once'],
    ['n', undefined],
  ])('that waits for a permission waits on after a restart, and %s is heard', async (words, expected) => {
    const { agent, cwd } = world();
    mkdirSync(join(cwd, 'sub'));
    const store = memoryStore();
    const first = await talkTo(agent(), { store });
    // The choices of the message also apply to its answer: in another folder the session would not be found.
    const waiting = await first.task('ask make', { ...inContext, metadata: { cwd: 'sub' } });
    await first.stop();
    const second = await talkTo(agent(), { store });
    const still = await second.service.get(
      { id: waiting.id },
      { principal: { id: 'local', scopes: [] }, dialect: 'v10' as never, extensions: [], signal: new AbortController().signal },
    );
    expect(still.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const done = await second.task(words, { taskId: waiting.id });
    // A no is passed on as text. If the agent asks again, the caller is asked again.
    if (expected === undefined) expect(done.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    else expect(answer(done)).toContain(expected);
    await second.stop();
  });

  it('that can’t be resumed fails its task with the reason', async () => {
    const { agent } = world({}, { NO_LOAD: '1' });
    const store = memoryStore();
    const first = await talkTo(agent(), { store });
    const waiting = await first.task('ask make', inContext);
    await first.stop();
    const second = await talkTo(agent(), { store });
    const task = await second.finished(waiting.id);
    await second.stop();
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(statusText(task)).toContain('The server stopped while the agent waited for an answer');
  });
});
