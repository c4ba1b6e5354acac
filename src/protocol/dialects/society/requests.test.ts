import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { invalidParams } from '../fault.ts';
import { society } from './dialect.ts';

const text = { type: 'text', text: 'hi' };
const user = (...parts: unknown[]) => ({ role: 'user', parts });

/** What a caller reads: the pipeline turns an outcome into an error, and Society puts it into words. */
function answer(params: unknown): unknown {
  const found = society.decode('send.request', params, countingEnv());
  if (found.ok || found.reason !== 'invalid') return found;
  const { code, message } = society.error.write(invalidParams(found));
  return code === -32602 ? message : code;
}

describe("Society's checks, in its words and its order", () => {
  it.each([
    [undefined, 'invalid params: task id is required'],
    [null, 'invalid params: task id is required'],
    [{}, 'invalid params: task id is required'],
    [{ id: '', message: {} }, 'invalid params: task id is required'],
    [{ id: null, message: user() }, 'invalid params: task id is required'],
    [{ id: 't' }, 'invalid params: message role must be "user"'],
    [{ id: 't', message: null }, 'invalid params: message role must be "user"'],
    [{ id: 't', message: { role: 'agent', parts: [] } }, 'invalid params: message role must be "user"'],
    [{ id: 't', message: { role: 'user' } }, 'invalid params: message must have at least one part'],
    [{ id: 't', message: { role: 'user', parts: null } }, 'invalid params: message must have at least one part'],
    [{ id: 't', message: user() }, 'invalid params: message must have at least one part'],
    [{ id: 't', message: user({ text: 'hi' }) }, 'invalid params: part[0] type is required'],
    [{ id: 't', message: user(text, { type: '' }, {}) }, 'invalid params: part[1] type is required'],
    [{ id: 't', message: user(text, null) }, 'invalid params: part[1] type is required'],
    // A part of a type that it lacks comes after a part without one, however they stand.
    [{ id: 't', message: user({ type: 'image' }, {}) }, 'invalid params: part[1] type is required'],
  ])('%j', (params, words) => expect(answer(params)).toBe(words));
});

describe('problems that Society reports without the member’s name', () => {
  it.each([
    [[], 'invalid params: params must be an object'],
    ['x', 'invalid params: params must be an object'],
    [{ id: 7 }, 'invalid params: id must be a string'],
    [{ id: 'x'.repeat(129) }, 'invalid params: id must be at most 128 characters'],
    [{ id: 't', message: 'hi' }, 'invalid params: message must be an object'],
    [{ id: 't', message: { role: 'user', parts: {} } }, 'invalid params: message.parts must be an array'],
    [{ id: 't', message: user(...Array(101).fill(text)) }, 'invalid params: message.parts must have at most 100 parts'],
    [{ id: 't', message: user('hi') }, 'invalid params: message.parts[0] must be an object'],
    [{ id: 't', message: user(text, { type: 'image' }) }, 'invalid params: message.parts[1].type must be text or data'],
    [{ id: 't', message: user({ type: 'text', text: 7 }) }, 'invalid params: message.parts[0].text must be a string'],
    [
      { id: 't', message: user({ type: 'data', data: JSON.parse('{"__proto__":1}') }) },
      'invalid params: message.parts[0].data must not have the key __proto__',
    ],
    [
      { id: 't', message: user({ type: 'data', data: Number.POSITIVE_INFINITY }) },
      'invalid params: message.parts[0].data holds a number that is out of range',
    ],
  ])('%j', (params, words) => expect(answer(params)).toBe(words));
});

describe('a thread', () => {
  const id = (members: object): unknown => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...members };
    return (society.encode('send.request', { message, ...members } as never) as { id: string }).id;
  };

  it('is the alias, or else the id of the task, the context or the message', () => {
    expect(id({ alias: 'a', taskId: 't', contextId: 'c' })).toBe('a');
    expect(id({ taskId: 't', contextId: 'c' })).toBe('t');
    expect(id({ contextId: 'c' })).toBe('c');
    expect(id({})).toBe('m');
  });

  it('is written with the role user for every role of the message', () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] };
    expect(society.encode('send.request', { message } as never)).toEqual({ id: 'm', message: user(text) });
  });

  it('does not depend on the envelope’s id', () => {
    const read = society.decode('send.request', { id: 't', message: user(text) }, { ...countingEnv(), rpcId: 'other' });
    expect(read).toMatchObject({ ok: true, value: { alias: 't' } });
  });
});

it('has one method and no streams', () => {
  expect(society.methods).toEqual({ send: 'tasks/send' });
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/sendSubscribe']) expect(society.operationOf(method)).toBeUndefined();
  expect(society.decode('get.request', { id: 't' }, countingEnv())).toEqual({ ok: false, reason: 'not-in-dialect' });
  expect(() => society.openStream('t')).toThrow('Society has no streams');
  expect(society.openReader(countingEnv()).read({})).toEqual({ ok: false, reason: 'not-in-dialect' });
});
