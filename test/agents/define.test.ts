import { afterEach, describe, expect, it } from 'vitest';
import type { StandardSchema } from '#agents';
import { artifact, ask, auth, complete, data, defineAgent, fail, message, reject, status, text } from '#agents';
import type { Agent } from '#protocol';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import type { Talk } from '../support/talk.ts';
import { course, said, statusText, talkTo, taskIn, textOf } from '../support/talk.ts';

const NAMED = { name: 'test', description: 'For a test.' };
const open: Talk[] = [];
afterEach(async () => {
  for (const talk of open.splice(0)) await talk.stop();
});

async function talkWith(agent: Agent, options: Parameters<typeof talkTo>[1] = {}): Promise<Talk> {
  const talk = await talkTo(agent, options);
  open.push(talk);
  return talk;
}

describe('the output of an agent', () => {
  it('reaches its caller', async () => {
    const agent = defineAgent({
      ...NAMED,
      async *run() {
        yield status('on it');
        yield 'one ';
        yield text('two');
        yield artifact({ name: 'a', parts: [{ text: '!' }] });
        yield data({ n: 1 }, { name: 'd' });
        yield complete('bye', { cost: 3 });
        yield 'never';
      },
    });
    const talk = await talkWith(agent);
    const task = await talk.task('go');
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [
        { artifactId: 'response', parts: [{ text: 'one two' }] },
        { name: 'a', parts: [{ text: '!' }] },
        { name: 'd', parts: [{ data: { n: 1 } }] },
      ],
      metadata: { cost: 3 },
    });
    expect(statusText(task)).toBe('bye');
    expect(said(task)).toEqual(['ROLE_USER go', 'ROLE_AGENT on it']);
    const expected = ['task WORKING', 'status WORKING', 'artifact', 'artifact +', 'artifact', 'artifact', 'status COMPLETED'];
    expect(course(await talk.stream('go'))).toEqual(expected);
  });

  it.each([
    ['ask', () => ask('which?'), 'INPUT_REQUIRED'],
    ['auth', () => auth('log in'), 'AUTH_REQUIRED'],
    ['reject', () => reject('no'), 'REJECTED'],
    ['fail', () => fail('could not'), 'FAILED'],
  ] as const)('%s', async (_, run, state) => {
    const task = await (await talkWith(defineAgent({ ...NAMED, run }))).task('go');
    expect(task.status.state).toBe(`TASK_STATE_${state}`);
    expect(statusText(task)).toMatch(/./);
  });

  it('can be a direct message, if it is the first output', async () => {
    const direct = await talkWith(defineAgent({ ...NAMED, run: () => message('hi') }));
    expect((await direct.send('go')).message).toMatchObject({ parts: [{ text: 'hi' }] });
    const late = await talkWith(
      defineAgent({
        ...NAMED,
        async *run() {
          yield 'text';
          yield message('hi');
        },
      }),
    );
    const task = await late.task('go');
    expect([task.status.state, statusText(task)]).toEqual(['TASK_STATE_COMPLETED', 'hi']);
  });
});

describe('a question within a run', () => {
  const painter = defineAgent({
    ...NAMED,
    recovery: 'retry',
    async *run(turn) {
      const { option } = await turn.ask('Which colour?', { options: ['red', 'blue'] });
      const sure = await turn.ask(`Really ${option}?`);
      yield `${option}: ${sure.text}`;
    },
  });

  it('waits for its answer, message by message', async () => {
    const talk = await talkWith(painter);
    const asked = await talk.task('paint');
    expect([asked.status.state, statusText(asked)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'Which colour?']);
    const again = await talk.task('Blue', { taskId: asked.id });
    expect([again.status.state, statusText(again)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'Really blue?']);
    const done = await talk.task('sure', { taskId: asked.id });
    expect([done.status.state, textOf(done)]).toEqual(['TASK_STATE_COMPLETED', 'blue: sure']);
  });

  it('survives a restart', async () => {
    const store = memoryStore();
    const first = await talkWith(painter, { store });
    const { id } = await first.task('paint');
    await first.task('red', { taskId: id });
    await first.stop();
    const second = await talkWith(painter, { store });
    const done = await second.task('yes', { taskId: id });
    expect([done.status.state, textOf(done)]).toEqual(['TASK_STATE_COMPLETED', 'red: yes']);
  });
});

describe('a conversation', () => {
  it('is opened once for a context', async () => {
    const opened: string[] = [];
    const agent = defineAgent({
      ...NAMED,
      open: (contextId) => {
        opened.push(contextId);
        return { count: 0 };
      },
      run: ({ opened: state }) => {
        state.count += 1;
        return `${state.count}`;
      },
    });
    const talk = await talkWith(agent);
    const first = await talk.task('a');
    const { contextId } = first;
    if (contextId === undefined) throw new Error('no context');
    expect([textOf(first), textOf(await talk.task('b', { contextId })), textOf(await talk.task('c'))]).toEqual(['1', '2', '1']);
    expect(opened).toEqual([contextId, expect.not.stringMatching(contextId)]);
  });
});

describe('a skill with schemas', () => {
  const validate = (value: unknown) =>
    typeof value === 'object' && value !== null && 'n' in value && typeof value.n === 'number'
      ? { value: { n: value.n } }
      : { issues: [{ message: 'must be a number', path: ['n'] }] };
  const N: StandardSchema<{ n: number }> = { '~standard': { version: 1, vendor: 'by-hand', validate } };
  const doubler = defineAgent({
    ...NAMED,
    skills: [{ id: 'double', description: 'Doubles.', input: N, output: N }],
    run: ({ input }) => (input.n > 99 ? ({ n: 'many' } as never) : { n: input.n * 2 }),
  });

  it('accepts data or JSON text, and returns data', async () => {
    const talk = await talkWith(doubler);
    for (const content of ['{"n": 21}', [{ data: { n: 21 } }]]) {
      const task = await talk.task(content, { metadata: { skillId: 'double' } });
      expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ data: { n: 42 } }] }] });
    }
  });

  it('rejects input that does not match, and fails on output that does not match', async () => {
    const talk = await talkWith(doubler);
    const refused = await talk.task('twenty-one');
    expect([refused.status.state, statusText(refused)]).toEqual([
      'TASK_STATE_REJECTED',
      'The input does not fit skill double: n: must be a number',
    ]);
    const failed = await talk.task('{"n": 100}');
    expect([failed.status.state, statusText(failed)]).toEqual([
      'TASK_STATE_FAILED',
      "The agent's output does not fit skill double: n: must be a number",
    ]);
  });
});

describe('a cancel', () => {
  it('reaches the run by its signal', async () => {
    let reason: unknown;
    const agent = defineAgent({
      ...NAMED,
      run: ({ signal }) =>
        new Promise<undefined>((resolve) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            resolve(undefined);
          });
        }),
    });
    const talk = await talkWith(agent);
    const { id } = taskIn(await talk.begin('go'));
    expect((await talk.cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect(reason).toBeInstanceOf(Error);
  });
});
