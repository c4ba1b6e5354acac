import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Task } from '../../task.ts';
import { artifactNumbers } from './artifacts.ts';
import { v01 } from './dialect.ts';

const read = (raw: unknown) => v01.decode('get.result', raw, countingEnv());
const task = (raw: object): Task => {
  const found = read({ id: 't', status: { state: 'completed' }, ...raw });
  if (!found.ok) throw new Error(JSON.stringify(found));
  return found.value;
};
const indexes = (...ids: string[]): unknown[] => {
  const artifacts = ids.map((artifactId) => ({ artifactId, parts: [] }));
  const written = v01.encode('get.result', { id: 't', status: { state: 'TASK_STATE_COMPLETED' }, artifacts } as never);
  return (written as unknown as { artifacts: { index: number }[] }).artifacts.map(({ index }) => index);
};
const ids = (...given: unknown[]): unknown[] =>
  (task({ artifacts: given.map((index) => ({ index, parts: [] })) }).artifacts ?? []).map((each) => each.artifactId);

describe('artifact numbers', () => {
  it.each([
    [
      ['a', 'b', 'c'],
      [0, 1, 2],
    ],
    [
      ['0', '1'],
      [0, 1],
    ],
    [
      ['7', '3'],
      [7, 3],
    ],
    [
      ['a', '0'],
      [0, 1],
    ],
    [
      ['1', 'a', 'b'],
      [1, 0, 2],
    ],
    [
      ['07', '1e1', '-1', '1.5', ''],
      [0, 1, 2, 3, 4],
    ],
    [
      ['2147483647', '2147483648'],
      [2147483647, 0],
    ],
  ])('%j are written as %j', (given, numbers) => expect(indexes(...given)).toEqual(numbers));

  it('are the same in a stream and in the task', () => {
    for (const given of [
      ['a', '0', 'b'],
      ['1', 'a', '0', 'b'],
      ['x', 'y', '5', '1'],
    ]) {
      const number = artifactNumbers();
      const streamed = given.map(number);
      expect(streamed).toEqual(indexes(...given));
      expect(given.map(number)).toEqual(streamed);
      expect(new Set(streamed).size).toBe(given.length);
    }
  });

  it.each([
    [
      [0, 1, 2],
      ['0', '1', '2'],
    ],
    [
      [4, 2],
      ['4', '2'],
    ],
    [
      [undefined, undefined],
      ['0', '1'],
    ],
    [
      [null, null],
      ['0', '1'],
    ],
    [
      [0, 0, 0],
      ['0', '1', '2'],
    ],
    [
      [0, 0, 1],
      ['0', '1', '2'],
    ],
    [
      [1, undefined],
      ['1', '0'],
    ],
  ])('%j are read as %j', (given, names) => expect(ids(...given)).toEqual(names));
});

describe('a bad result is refused with its path', () => {
  it.each([
    [null, '', /required/],
    [{ status: { state: 'working' } }, 'id', /required/],
    [{ id: 't' }, 'status', /required/],
    [{ id: 't', status: {} }, 'status.state', /required/],
    [{ id: 't', status: { state: 'TASK_STATE_WORKING' } }, 'status.state', /unknown value/],
    [{ id: 't', status: { state: 'working', timestamp: 'now' } }, 'status.timestamp', /timestamp/],
    [{ id: 't', status: { state: 'working', message: { parts: [] } } }, 'status.message.role', /required/],
    [{ id: 't', status: { state: 'working' }, artifacts: {} }, 'artifacts', /array/],
    [{ id: 't', status: { state: 'working' }, artifacts: [{ index: -1, parts: [] }] }, 'artifacts[0].index', /whole number/],
    [{ id: 't', status: { state: 'working' }, artifacts: [{ parts: [{ text: 1 }] }] }, 'artifacts[0].parts[0].text', /string/],
    [{ id: 't', status: { state: 'working' }, history: [{ role: 'x' }] }, 'history[0].role', /user, agent/],
  ])('%j', (raw, path, problem) => {
    expect(read(raw)).toEqual({ ok: false, reason: 'invalid', path, problem: expect.stringMatching(problem) });
  });
});

describe('a lenient reading of results', () => {
  it('accepts a text as the status message', () => {
    expect(task({ status: { state: 'failed', message: 'no such file' } }).status).toEqual({
      state: 'TASK_STATE_FAILED',
      message: { messageId: 'minted-1', role: 'ROLE_AGENT', parts: [{ text: 'no such file' }] },
    });
    expect(task({ status: { state: 'completed', message: '' } }).status).toEqual({ state: 'TASK_STATE_COMPLETED' });
  });

  it('accepts messages and artifacts without parts', () => {
    expect(task({ history: [{ role: 'agent' }], artifacts: [{}] })).toMatchObject({ history: [{ parts: [] }], artifacts: [{ parts: [] }] });
  });

  it('accepts an empty uri beside bytes, and an empty file', () => {
    const part = (file: object) => task({ artifacts: [{ parts: [{ type: 'file', file }] }] }).artifacts?.[0]?.parts[0];
    expect(part({ bytes: 'aGk=', uri: '' })).toEqual({ raw: 'aGk=' });
    expect(part({ bytes: '', uri: 'https://x' })).toEqual({ url: 'https://x' });
    expect(part({ bytes: '' })).toEqual({ raw: '' });
    expect(part({})).toEqual({ data: {} });
  });

  it('keeps data with a mark that is not ours', () => {
    const part = (data: unknown, metadata: unknown) =>
      task({ artifacts: [{ parts: [{ type: 'data', data, metadata }] }] }).artifacts?.[0]?.parts[0];
    expect(part({ value: 1 }, { data_part_compat: false })).toEqual({ data: { value: 1 }, metadata: { data_part_compat: false } });
    expect(part({ other: 1 }, { data_part_compat: true })).toEqual({ data: { other: 1 }, metadata: { data_part_compat: true } });
    expect(part({ value: null }, { data_part_compat: true, k: 1 })).toEqual({ data: null, metadata: { k: 1 } });
  });

  it('writes no member that only the canonical model has', () => {
    const message = {
      messageId: 'm',
      taskId: 't',
      contextId: 'c',
      role: 'ROLE_AGENT',
      parts: [{ text: 'x', filename: 'f' }],
      extensions: ['e'],
    };
    const written = v01.encode('get.result', {
      id: 't',
      generation: 4,
      status: { state: 'TASK_STATE_WORKING', message },
      artifacts: [{ artifactId: 'a', parts: [], extensions: ['e'] }],
      history: [message],
    } as never);
    expect(JSON.stringify(written)).not.toMatch(/generation|messageId|taskId|contextId|artifactId|filename|extensions|ROLE_|TASK_STATE_/);
  });
});
