import { describe, expect, it } from 'vitest';
import { dialectId } from '../../ids.ts';
import { createRegistry } from '../create-registry.ts';
import type { Hints } from '../dialect.ts';
import { DIALECTS } from '../registry.ts';
import { society } from '../society/dialect.ts';
import { v01 } from './dialect.ts';

const registry = createRegistry(DIALECTS);
const message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };
const plain = { id: 't', message };
const snake = { message: { role: 'user', parts: [{ text: 'hi' }], message_id: 'm', context_id: 'c' } };
const send = (params: unknown, path?: string): Hints => ({ method: 'tasks/send', params, ...(path === undefined ? {} : { path }) });
const winner = (hints: Hints) => registry.detect(hints)?.id;

describe('detection of tasks/send', () => {
  const marks: readonly (readonly [string, object])[] = [
    ['sessionId', { ...plain, sessionId: 's' }],
    ['metadata', { ...plain, metadata: {} }],
    ['historyLength', { ...plain, historyLength: 0 }],
    ['pushNotification', { ...plain, pushNotification: { url: 'https://x' } }],
    ['acceptedOutputModes', { ...plain, acceptedOutputModes: [] }],
    ['metadata of the message', { id: 't', message: { ...message, metadata: {} } }],
    ['metadata of a part', { id: 't', message: { role: 'user', parts: [{ type: 'text', text: 'hi', metadata: {} }] } }],
    ['a file', { id: 't', message: { role: 'user', parts: [{ type: 'file', file: { uri: 'https://x' } }] } }],
    ['a file without a type', { id: 't', message: { role: 'user', parts: [{ file: { uri: 'https://x' } }] } }],
  ];
  it.each(marks)('is 0.1 on every path, by %s', (_, params) => {
    for (const path of ['/', '/a2a', '/a2a/jsonrpc', undefined]) expect(winner(send(params, path))).toBe('v01');
    expect([v01.detect(send(params, '/')), society.detect(send(params, '/'))]).toEqual(['shape', 'no']);
  });

  it('is Society on / and 0.1 elsewhere, without any of these', () => {
    expect(['/', '/a2a', '/a2a/jsonrpc', undefined].map((path) => winner(send(plain, path)))).toEqual(['society', 'v01', 'v01', 'v01']);
    expect([v01.detect(send(plain, '/')), society.detect(send(plain, '/'))]).toEqual(['grammar', 'shape']);
  });

  it('is Society on / even if it is invalid, so that the error has Society’s text', () => {
    const wrong = [undefined, null, [], 'x', {}, { message }, { id: 't' }, { id: 't', message: { role: 'agent', parts: [] } }];
    for (const params of wrong) expect(winner(send(params, '/'))).toBe('society');
    expect(winner(send({ id: 't', message: { role: 'user', parts: [{ text: 'hi' }] } }, '/'))).toBe('society');
  });

  it("SAM in its documents' spelling, wherever it comes", () => {
    for (const path of ['/', '/a2a', undefined]) {
      expect([v01.detect(send(snake, path)), society.detect(send(snake, path))]).toEqual(['no', 'no']);
      expect(winner(send(snake, path))).toMatch(/^sam/);
      const bare = { message: { role: 'user', parts: [{ text: 'hi' }], metadata: { agent_name: 'a' } } };
      expect(winner(send(bare, path))).toMatch(/^sam/);
    }
  });
});

describe('the other methods', () => {
  it.each(['tasks/sendSubscribe', 'tasks/pushNotification/set', 'tasks/pushNotification/get'])('%s is 0.1 alone', (method) => {
    expect(v01.detect({ method })).toBe('shape');
    expect(winner({ method, path: '/' })).toBe('v01');
  });

  it.each(['tasks/get', 'tasks/cancel', 'tasks/resubscribe'])('%s is answered in the dialect that the task was made in', (method) => {
    const hints = { method, params: { id: 't' }, path: '/a2a/jsonrpc' };
    expect(v01.detect(hints)).toBe('grammar');
    expect(registry.detect(hints, () => dialectId('v01'))?.id).toBe('v01');
    expect(registry.detect(hints, () => dialectId('v03'))?.id).toBe('v03');
    // Society has none of these; 0.1 calls tasks by the same names.
    expect(registry.detect(hints, () => dialectId('society'))?.id).toBe('v01');
  });

  it.each(['message/send', 'SendMessage', 'tasks/send-streaming', 'tasks/pushNotificationConfig/set', 'unknown/method', undefined])(
    '%s is not ours',
    (method) => {
      const hints: Hints = method === undefined ? { path: '/' } : { method, path: '/', params: {} };
      expect([v01.detect(hints), society.detect(hints)]).toEqual(['no', 'no']);
    },
  );
});
