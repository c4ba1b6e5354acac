import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import { TASK_STATES } from '../../states.ts';
import { society } from './dialect.ts';

interface Wire {
  readonly status: { readonly state: string; readonly message?: string };
  readonly artifacts?: readonly { readonly name?: string; readonly parts: readonly object[] }[];
}

const output = [{ artifactId: 'a', parts: [{ text: 'out' }] }];
const write = (state: TaskState, said?: readonly Part[], artifacts?: unknown): Wire => {
  const message = said === undefined ? {} : { message: { messageId: 'm', role: 'ROLE_AGENT', parts: said } };
  const task = { id: 't', status: { state, ...message }, ...(artifacts === undefined ? {} : { artifacts }) };
  return society.encode('send.result', { task } as never) as unknown as Wire;
};
const read = (result: unknown) => society.decode('send.result', result, countingEnv());
const text = (words: string) => ({ type: 'text', text: words });

describe('a status', () => {
  it('has a text or nothing as its message, in every state', () => {
    const sayings: readonly (readonly Part[] | undefined)[] = [
      undefined,
      [],
      [{ text: '' }],
      [{ text: 'x' }],
      [{ data: { q: 1 } }],
      [{ raw: 'aGk=' }],
    ];
    for (const state of Object.keys(TASK_STATES) as TaskState[]) {
      for (const said of sayings) {
        const { message } = write(state, said).status;
        expect(message === undefined || (typeof message === 'string' && message !== '')).toBe(true);
      }
    }
  });

  it.each([
    ['TASK_STATE_INPUT_REQUIRED', 'working', 'input required'],
    ['TASK_STATE_AUTH_REQUIRED', 'working', 'authentication required'],
    ['TASK_STATE_REJECTED', 'failed', 'rejected'],
    ['TASK_STATE_WORKING', 'working', 'still working'],
    ['TASK_STATE_UNSPECIFIED', 'working', undefined],
    ['TASK_STATE_CANCELED', 'cancelled', undefined],
    ['TASK_STATE_COMPLETED', 'completed', undefined],
  ] as const)('%s without words is %s, %s', (state, name, message) => {
    expect(write(state, undefined, output).status).toEqual(message === undefined ? { state: name } : { state: name, message });
  });

  it('has an empty message if the agent’s text is empty', () => {
    expect(write('TASK_STATE_COMPLETED', [{ text: '' }])).toEqual({ id: 't', status: { state: 'completed' } });
    expect(write('TASK_STATE_INPUT_REQUIRED', [{ text: '' }])).toEqual(write('TASK_STATE_INPUT_REQUIRED'));
  });

  it.each([
    [[{ text: 'a' }, { text: 'b' }], 'a\nb'],
    [[{ text: 'pick' }, { data: { options: ['y', 'n'] } }], 'pick'],
    [[{ data: { options: ['y', 'n'] } }], '{"options":["y","n"]}'],
    [[{ url: 'https://x/f' }, { raw: 'aGk=', filename: 'f.txt' }, { raw: 'aGk=' }], 'https://x/f\nf.txt\nfile'],
  ] as [Part[], string][])('%j is asked as a text', (said, message) => {
    expect(write('TASK_STATE_INPUT_REQUIRED', said).status).toEqual({ state: 'working', message });
  });
});

describe('a message that Society’s client would not show', () => {
  it('is repeated as an artifact if there is no output', () => {
    expect(write('TASK_STATE_INPUT_REQUIRED', [{ text: 'which?' }]).artifacts).toEqual([{ name: 'status', parts: [text('which?')] }]);
    expect(write('TASK_STATE_INPUT_REQUIRED').artifacts).toEqual([{ name: 'status', parts: [text('input required')] }]);
    expect(write('TASK_STATE_COMPLETED', [{ text: 'done' }], []).artifacts).toEqual([{ name: 'status', parts: [text('done')] }]);
  });

  it('is repeated after output if it is a question', () => {
    expect(write('TASK_STATE_INPUT_REQUIRED', [{ text: 'which?' }], output).artifacts).toEqual([
      { name: 'response', parts: [text('out')] },
      { name: 'status', parts: [text('which?')] },
    ]);
  });

  it('says that the agent still works if a send ends before the answer', () => {
    expect(write('TASK_STATE_WORKING').artifacts).toEqual([{ name: 'status', parts: [text('still working')] }]);
  });

  it('is not repeated if the client shows it, or if there is output', () => {
    expect(write('TASK_STATE_FAILED', [{ text: 'no' }]).artifacts).toBeUndefined();
    expect(write('TASK_STATE_REJECTED', [{ text: 'no' }]).artifacts).toBeUndefined();
    expect(write('TASK_STATE_COMPLETED', [{ text: 'done' }], output).artifacts).toEqual([{ name: 'response', parts: [text('out')] }]);
    expect(write('TASK_STATE_COMPLETED', undefined, []).artifacts).toEqual([]);
  });

  it('is restored by our own reader, with all its parts', () => {
    const said = [{ text: 'pick' }, { data: { options: ['y', 'n'] } }];
    for (const artifacts of [undefined, output]) {
      const wire = write('TASK_STATE_WORKING', said, artifacts);
      expect(read(wire)).toEqual({
        ok: true,
        value: {
          task: {
            id: 't',
            status: { state: 'TASK_STATE_WORKING', message: { messageId: 'minted-1', role: 'ROLE_AGENT', parts: said } },
            ...(artifacts === undefined ? {} : { artifacts: [{ artifactId: '0', name: 'response', parts: [{ text: 'out' }] }] }),
          },
        },
      });
    }
  });

  it('stays an artifact if it differs from the status message, or if there is none', () => {
    const artifacts = [{ name: 'status', parts: [text('green')] }];
    const kept = { value: { task: { artifacts: [{ artifactId: '0', name: 'status', parts: [{ text: 'green' }] }] } } };
    expect(read({ id: 't', status: { state: 'working', message: 'red' }, artifacts })).toMatchObject(kept);
    expect(read({ id: 't', status: { state: 'working' }, artifacts })).toMatchObject(kept);
  });
});

describe('a bad result is refused with its path', () => {
  it.each([
    [null, '', /required/],
    [{ id: 't' }, 'status', /required/],
    [{ status: { state: 'working' } }, 'id', /required/],
    [{ id: 't', status: { state: 'input-required' } }, 'status.state', /unknown value/],
    [{ id: 't', status: { state: 'working', message: 7 } }, 'status.message', /object/],
    [{ id: 't', status: { state: 'working' }, artifacts: 'x' }, 'artifacts', /array/],
    [{ id: 't', status: { state: 'working' }, artifacts: [{ parts: [{ type: 'file' }] }] }, 'artifacts[0].parts[0].type', /text or data/],
    [{ id: 't', status: { state: 'working' }, messages: [{ role: 'system' }] }, 'messages[0].role', /user, agent/],
  ])('%j', (raw, path, problem) => {
    expect(read(raw)).toEqual({ ok: false, reason: 'invalid', path, problem: expect.stringMatching(problem) });
  });
});

it('names a direct message by its task, its context, or its own id', () => {
  const id = (members: object) =>
    (society.encode('send.result', { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [], ...members } } as never) as { id: string })
      .id;
  expect([id({ taskId: 't', contextId: 'c' }), id({ contextId: 'c' }), id({})]).toEqual(['t', 'c', 'm']);
});

it('writes no member that Society lacks', () => {
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x', metadata: { k: 1 }, filename: 'f' }], taskId: 't' };
  const task = {
    id: 't',
    contextId: 'c',
    generation: 3,
    status: { state: 'TASK_STATE_WORKING', message, timestamp: '2026-01-01T00:00:00Z' },
    artifacts: [{ artifactId: 'a', parts: [], description: 'd', metadata: {}, extensions: [] }],
    history: [message],
    metadata: {},
  };
  const keys = new Set<string>();
  JSON.stringify(society.encode('send.result', { task } as never), (key, value) => {
    if (key !== '' && !/^\d+$/.test(key)) keys.add(key);
    return value;
  });
  expect([...keys].sort()).toEqual(['artifacts', 'id', 'message', 'messages', 'name', 'parts', 'role', 'state', 'status', 'text', 'type']);
});
