import { describe, expect, it } from 'vitest';
import { contextId, messageId, taskId } from './ids.ts';
import type { Message } from './message.ts';
import {
  createAgentDataMessage,
  createAgentPartsMessage,
  createAgentTextMessage,
  createUserMessage,
  getDataPartsFromMessage,
  getFilePartsFromMessage,
  getTextFromMessage,
} from './message.ts';
import { createDataPart, createFilePartFromBytes, createFilePartFromUri, createTextPart } from './parts.ts';

const options = { taskId: taskId('task_123'), contextId: contextId('session_456') };

describe('creating messages', () => {
  it('from the agent, with text, data or parts', () => {
    const ids = { taskId: 'task_123', contextId: 'session_456' };
    expect(createAgentTextMessage('Processing complete', options)).toMatchObject({
      role: 'ROLE_AGENT',
      parts: [{ text: 'Processing complete' }],
      ...ids,
    });
    expect(createAgentDataMessage({ result: 'success', count: 42 }, options)).toMatchObject({
      role: 'ROLE_AGENT',
      parts: [{ data: { result: 'success', count: 42 } }],
      ...ids,
    });
    const parts = [
      createTextPart('Here are the results:'),
      createDataPart({ items: [1, 2, 3] }),
      createFilePartFromUri('artifact://session/file.pdf'),
    ];
    expect(createAgentPartsMessage(parts, { ...options, metadata: { k: 1 } })).toMatchObject({ parts, ...ids, metadata: { k: 1 } });
  });

  it('from the user, with text or parts', () => {
    expect(createUserMessage('hi')).toMatchObject({ role: 'ROLE_USER', parts: [{ text: 'hi' }] });
    expect(createUserMessage([{ data: 1 }])).toMatchObject({ role: 'ROLE_USER', parts: [{ data: 1 }] });
  });

  it('gives each message a new id unless one is given, and no other member', () => {
    const [one, two] = [createUserMessage('hi'), createUserMessage('hi')];
    expect(one.messageId).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.messageId).not.toBe(two.messageId);
    expect(createUserMessage('hi', { messageId: messageId('m') }).messageId).toBe('m');
    expect(Object.keys(one)).toEqual(['messageId', 'role', 'parts']);
  });
});

describe('reading a message', () => {
  const message: Message = createAgentPartsMessage([
    createTextPart('one'),
    createDataPart({ a: 1 }),
    createTextPart(''),
    createFilePartFromUri('artifact://s/f'),
    createDataPart(null),
    createFilePartFromBytes('AQID'),
    createTextPart('two'),
  ]);

  it('joins its texts by line breaks, empty ones too', () => {
    expect(getTextFromMessage(message)).toBe('one\n\ntwo');
    expect(getTextFromMessage(createAgentDataMessage({}))).toBe('');
  });

  it('returns data and files in order', () => {
    expect(getDataPartsFromMessage(message).map((part) => part.data)).toEqual([{ a: 1 }, null]);
    expect(getFilePartsFromMessage(message).map((part) => part.url ?? part.raw)).toEqual(['artifact://s/f', 'AQID']);
  });
});
