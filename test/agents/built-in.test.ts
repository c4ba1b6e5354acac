import { afterEach, describe, expect, it } from 'vitest';
import { builtInAgents } from '#agents';
import type { Store } from '#engine';
import type { MessageOptions, Part, Task, TaskEvent } from '#protocol';
import { base64ToBytes, getChoicesFromMessage } from '#protocol';
import { createDemo } from '../../src/agents/built-in/demo.ts';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { eventually } from '../support/eventually.ts';
import type { Talk } from '../support/talk.ts';
import { callContext, course, said, statusText, talkTo, taskIn, textOf } from '../support/talk.ts';

const open: Talk[] = [];
afterEach(async () => {
  for (const talk of open.splice(0)) await talk.stop();
});

async function talkToBuiltIn(name: string, store: Store = memoryStore()): Promise<Talk> {
  const agent = name === 'demo' ? createDemo({ wordMs: 0, stepMs: 5 }) : builtInAgents.get(name)?.create();
  if (agent === undefined) throw new Error(`no ${name}`);
  const talk = await talkTo(agent, { store });
  open.push(talk);
  return talk;
}

const inContextOf = ({ contextId }: Task): MessageOptions => (contextId === undefined ? {} : { contextId });

describe('echo', () => {
  it('completes with one artifact that holds the parts unchanged', async () => {
    const parts: readonly Part[] = [
      { text: 'hi', metadata: { a: [1, null] } },
      { data: { deep: { er: [true] } }, mediaType: 'application/vnd.x+json' },
      { raw: 'AQID', filename: 'a.bin' },
      { url: 'https://a.example/f', mediaType: 'image/png' },
    ];
    const task = await (await talkToBuiltIn('echo')).task(parts);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.map((artifact) => artifact.parts)).toEqual([parts]);
  });
});

describe('script', () => {
  it.each([
    ['', 'COMPLETED', 'chunk 1'],
    ['chunks=3', 'COMPLETED', 'chunk 1chunk 2chunk 3'],
    ['chunks=2 size=8', 'COMPLETED', 'chunk 1.chunk 2.'],
    ['chunks=2 delay=5', 'COMPLETED', 'chunk 1chunk 2'],
    ['sleep=5', 'COMPLETED', 'chunk 1'],
    ['ask', 'INPUT_REQUIRED', ''],
    ['auth', 'AUTH_REQUIRED', ''],
    ['reject', 'REJECTED', ''],
    ['fail chunks=1', 'FAILED', 'chunk 1'],
    ['crash', 'FAILED', ''],
    ['chunks=x', 'REJECTED', ''],
  ])('%j ends as %s', async (text, state, made) => {
    const task = await (await talkToBuiltIn('script')).task(text);
    expect([task.status.state, textOf(task)]).toEqual([`TASK_STATE_${state}`, made]);
    if (state !== 'COMPLETED') expect(statusText(task)).toMatch(/./);
  });

  it('appends its chunks to one artifact, each an event', async () => {
    const events = await (await talkToBuiltIn('script')).stream('chunks=3');
    expect(course(events)).toEqual(['task WORKING', 'artifact', 'artifact +', 'artifact +', 'status COMPLETED']);
  });

  it('makes a direct message, and no task', async () => {
    const talk = await talkToBuiltIn('script');
    expect((await talk.send('message')).message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: expect.any(String) }] });
    expect((await talk.service.list({}, callContext())).totalSize).toBe(0);
  });

  it('completes with the answer to its question or to its request for credentials', async () => {
    const talk = await talkToBuiltIn('script');
    for (const directive of ['ask', 'auth']) {
      const { id } = await talk.task(directive);
      const task = await talk.task('forty-two', { taskId: id });
      expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_COMPLETED', 'answer: forty-two']);
    }
  });

  it('hides the reason of a crash from its caller', async () => {
    const talk = await talkToBuiltIn('script');
    const task = await talk.task('crash');
    expect(JSON.stringify(task.status)).not.toContain('asked script to crash');
    expect(talk.reports).toEqual([expect.stringContaining('asked script to crash')]);
  });

  it('continues after a restart without lost or repeated chunks', async () => {
    const store = memoryStore();
    const first = await talkToBuiltIn('script', store);
    const { id } = taskIn(await first.begin('chunks=40 delay=5'));
    await eventually(async () => textOf(await first.service.get({ id }, callContext())) !== '');
    await first.stop();
    const second = await talkToBuiltIn('script', store);
    const events: TaskEvent[] = [];
    for await (const batch of second.service.subscribe({ id }, callContext())) events.push(...batch.map(({ event }) => event));
    const before = events[0]?.task?.artifacts?.[0]?.parts[0]?.text ?? '';
    expect(before).not.toBe('');
    expect(before).not.toContain('chunk 40');
    const done = await second.finished(id);
    expect(textOf(done)).toBe(Array.from({ length: 40 }, (_, at) => `chunk ${at + 1}`).join(''));
  });

  it('can be canceled while it sleeps', async () => {
    const talk = await talkToBuiltIn('script');
    const { id } = taskIn(await talk.begin('sleep=60000'));
    expect((await talk.cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect(talk.reports).toEqual([]);
  });
});

describe('demo', () => {
  it('streams', async () => {
    const events = await (await talkToBuiltIn('demo')).stream('stream');
    expect(events.length).toBeGreaterThan(50);
    expect(course(events).at(-1)).toBe('status COMPLETED');
  });

  it('asks for an approval, which can be text or an option', async () => {
    const talk = await talkToBuiltIn('demo');
    for (const yes of ['yes', [{ data: { optionId: 'allow' } }]]) {
      const asked = await talk.task('please ask for an approval');
      expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(asked.status.message && getChoicesFromMessage(asked.status.message)).toHaveLength(2);
      const unclear = await talk.task('perhaps', { taskId: asked.id });
      expect(unclear.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const done = await talk.task(yes, { taskId: asked.id });
      expect(done.status.state).toBe('TASK_STATE_COMPLETED');
      expect(done.artifacts).toMatchObject([{ name: 'approved.md' }]);
      expect(said(done).map((line) => line.split(' ')[0])).toEqual(['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER', 'ROLE_AGENT', 'ROLE_USER']);
    }
  });

  it('waits for an approval over a restart', async () => {
    const store = memoryStore();
    const first = await talkToBuiltIn('demo', store);
    const { id } = await first.task('approve');
    await first.stop();
    const done = await (await talkToBuiltIn('demo', store)).task('yes', { taskId: id });
    expect([done.status.state, done.artifacts?.[0]?.name]).toEqual(['TASK_STATE_COMPLETED', 'approved.md']);
  });

  it('does nothing without an approval', async () => {
    const talk = await talkToBuiltIn('demo');
    const { id } = await talk.task('approve');
    const done = await talk.task('no', { taskId: id });
    expect([done.status.state, done.artifacts]).toEqual(['TASK_STATE_COMPLETED', undefined]);
  });

  it('makes a file', async () => {
    const task = await (await talkToBuiltIn('demo')).task('file');
    const [part] = task.artifacts?.[0]?.parts ?? [];
    expect(new TextDecoder().decode(base64ToBytes(part?.raw ?? ''))).toContain(task.id);
  });

  it('remembers the conversation', async () => {
    const talk = await talkToBuiltIn('demo');
    const one = await talk.task('good morning');
    const other = await talk.task('good afternoon');
    const again = await talk.task('good evening', inContextOf(other));
    const third = await talk.task('good night', inContextOf(one));
    expect([textOf(again), textOf(third)]).toEqual([expect.stringContaining('message 2'), expect.stringContaining('message 2')]);
  });

  it('works slowly, and can be canceled meanwhile', async () => {
    const talk = await talkToBuiltIn('demo');
    const done = await talk.task('slow');
    expect(said(done)).toContain('ROLE_AGENT Step 10 of 10');
    const { id } = taskIn(await talk.begin('slow'));
    expect((await talk.cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
  });
});
