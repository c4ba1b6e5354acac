import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Shape } from '../../operations.ts';
import { v01 } from './dialect.ts';

const text = { type: 'text', text: 'hi' };
const message = { role: 'user', parts: [text] };
const read = (shape: Shape, raw: unknown) => v01.decode(shape, raw, countingEnv());
const value = (shape: Shape, raw: unknown): unknown => {
  const found = read(shape, raw);
  if (!found.ok) throw new Error(JSON.stringify(found));
  return found.value;
};
const withPart = (part: unknown) => ({ id: 't', message: { role: 'user', parts: [text, part] } });
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });

describe('a bad request is refused with its path', () => {
  const cases: readonly (readonly [string, Shape, unknown, string, RegExp])[] = [
    ['no params', 'send.request', undefined, '', /required/],
    ['params that are a list', 'send.request', [], '', /object/],
    ['no id', 'send.request', { message }, 'id', /required/],
    ['an empty id', 'send.request', { id: '', message }, 'id', /empty/],
    ['a number for an id', 'send.request', { id: 7, message }, 'id', /string/],
    ['an id that is too long', 'send.request', { id: 'x'.repeat(129), message }, 'id', /128/],
    ['no message', 'send.request', { id: 't' }, 'message', /required/],
    ['a role of 1.0', 'send.request', { id: 't', message: { ...message, role: 'ROLE_USER' } }, 'message.role', /user, agent/],
    ['no parts', 'send.request', { id: 't', message: { role: 'user' } }, 'message.parts', /required/],
    ['parts without a part', 'send.request', { id: 't', message: { role: 'user', parts: [] } }, 'message.parts', /at least one/],
    ['101 parts', 'send.request', { id: 't', message: { role: 'user', parts: Array(101).fill(text) } }, 'message.parts', /at most 100/],
    ['a part that is text', 'send.request', withPart('hi'), 'message.parts[1]', /object/],
    ['an unknown type', 'send.request', withPart({ type: 'video' }), 'message.parts[1].type', /text, file, data/],
    ['a type without its member', 'send.request', withPart({ type: 'text', data: {} }), 'message.parts[1].text', /required/],
    ['no type and no member', 'send.request', withPart({}), 'message.parts[1]', /has 0/],
    ['no type and two members', 'send.request', withPart({ text: 'a', data: {} }), 'message.parts[1]', /has 2/],
    ['data that is text', 'send.request', withPart({ type: 'data', data: 'x' }), 'message.parts[1].data', /object or an array/],
    ['data that is too deep', 'send.request', withPart({ type: 'data', data: deep(65) }), 'message.parts[1].data', /64/],
    [
      'a key that is a prototype',
      'send.request',
      withPart({ type: 'data', data: JSON.parse('{"__proto__":{}}') }),
      'message.parts[1].data',
      /__proto__/,
    ],
    ['a file without content', 'send.request', withPart({ type: 'file', file: { name: 'x' } }), 'message.parts[1].file', /has 0/],
    ['a file with an empty uri', 'send.request', withPart({ type: 'file', file: { uri: '' } }), 'message.parts[1].file', /has 0/],
    ['a file with both', 'send.request', withPart({ type: 'file', file: { uri: 'a:b', bytes: 'aGk=' } }), 'message.parts[1].file', /has 2/],
    [
      'bytes that are not base64',
      'send.request',
      withPart({ type: 'file', file: { bytes: '!' } }),
      'message.parts[1].file.bytes',
      /base64/,
    ],
    ['a negative length', 'send.request', { id: 't', message, historyLength: -1 }, 'historyLength', /whole number/],
    ['a length beyond int32', 'get.request', { id: 't', historyLength: 2147483648 }, 'historyLength', /2147483647/],
    ['metadata that is a list', 'send.request', { id: 't', message, metadata: [] }, 'metadata', /object/],
    ['a webhook without a url', 'send.request', { id: 't', message, pushNotification: {} }, 'pushNotification.url', /required/],
    [
      'credentials of no scheme',
      'push.create.request',
      { id: 't', pushNotificationConfig: { url: 'https://x', authentication: { schemes: [], credentials: 'c' } } },
      'pushNotificationConfig.authentication.schemes',
      /scheme/,
    ],
    ['a webhook that is null', 'push.create.request', { id: 't', pushNotificationConfig: null }, 'pushNotificationConfig', /required/],
    ['a get without an id', 'get.request', {}, 'id', /required/],
    ['a cancel without an id', 'cancel.request', {}, 'id', /required/],
    ['a resubscribe without an id', 'subscribe.request', {}, 'id', /required/],
    ['a webhook of no task', 'push.get.request', {}, 'id', /required/],
  ];
  it.each(cases)('%s', (_, shape, raw, path, problem) => {
    expect(read(shape, raw)).toEqual({ ok: false, reason: 'invalid', path, problem: expect.stringMatching(problem) });
  });

  it('refuses shapes that 0.1 lacks', () => {
    expect(read('list.request', {})).toEqual({ ok: false, reason: 'not-in-dialect' });
    expect(() => v01.encode('list.request', {})).toThrow('A2A 0.1 has no list.request');
  });
});

describe('history', () => {
  it.each([
    [undefined, 0],
    [null, 0],
    [0, 0],
    [5, 5],
    [2147483647, undefined],
  ])('%s on the wire is %s to us', (wire, length) => {
    expect(value('get.request', { id: 't', historyLength: wire })).toEqual({ id: 't', historyLength: length });
    const send = value('send.request', { id: 't', message, historyLength: wire }) as { configuration: unknown };
    expect(send.configuration).toEqual({ historyLength: length });
  });

  it('is read back unchanged, and written to the same bytes again', () => {
    for (const wire of [undefined, 0, 5, 2147483647]) {
      const once = v01.encode('get.request', value('get.request', { id: 't', historyLength: wire }) as never);
      expect(v01.encode('get.request', value('get.request', once) as never)).toEqual(once);
    }
    expect(v01.encode('get.request', { id: 't', historyLength: 0 } as never)).toEqual({ id: 't' });
    expect(v01.encode('get.request', { id: 't' } as never)).toEqual({ id: 't', historyLength: 2147483647 });
  });
});

describe('the name of a task', () => {
  const named = (members: object): unknown => {
    const request = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }, configuration: { historyLength: 0 } };
    return (v01.encode('send.request', { ...request, ...members, message: { ...request.message, ...members } } as never) as { id: string })
      .id;
  };

  it('is the alias, or else the id of the task or the message', () => {
    expect(named({ alias: 'a', taskId: 't' })).toBe('a');
    expect(named({ taskId: 't', contextId: 'c' })).toBe('t');
    expect(named({ contextId: 'c' })).toBe('m');
  });

  it('is read as an alias, never as a task id', () => {
    expect(value('send.request', { id: 't', message })).toMatchObject({ alias: 't', message: { messageId: 'minted-1' } });
    expect(value('send.request', { id: 't', message })).not.toHaveProperty('message.taskId');
  });
});

describe('a webhook', () => {
  it('has the task’s id, so that setting it again replaces it', () => {
    const first = value('push.create.request', { id: 't', pushNotificationConfig: { url: 'https://a' } });
    const second = value('push.create.request', { id: 't', pushNotificationConfig: { url: 'https://b' } });
    expect([first, second]).toMatchObject([{ id: 't', taskId: 't' }, { id: 't' }]);
  });

  it('may have no scheme', () => {
    const read = value('push.create.request', { id: 't', pushNotificationConfig: { url: 'https://a', authentication: { schemes: [] } } });
    expect(read).not.toHaveProperty('authentication');
  });
});
