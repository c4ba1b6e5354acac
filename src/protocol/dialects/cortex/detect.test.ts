import { describe, expect, it } from 'vitest';
import { createRegistry } from '../create-registry.ts';
import type { Confidence, Hints } from '../dialect.ts';
import { DIALECTS } from '../registry.ts';
import { cortex } from './dialect.ts';

const message = (role: string) => ({ message: { messageId: 'm', role, parts: [{ text: 'hi' }] } });
const registry = createRegistry(DIALECTS);

describe('Cortex is detected', () => {
  const cases: readonly (readonly [why: string, hints: Hints, expected: Confidence])[] = [
    ['by its path', { path: '/api/a2a', method: 'GetTask', params: { id: 't' } }, 'path'],
    ['by its path with a slash', { path: '/api/a2a/', method: 'SendMessage', params: message('ROLE_USER') }, 'path'],
    ['by its path under an agent', { path: '/agents/x/api/a2a', method: 'ListTasks' }, 'path'],
    ['by its path when there is no method', { path: '/api/a2a' }, 'path'],
    ['by its path when the method is unknown', { path: '/api/a2a', method: 'Nope' }, 'path'],
    ['not by its path with a slash method', { path: '/api/a2a', method: 'message/send' }, 'no'],
    ['by the role of a user', { path: '/a2a', method: 'SendMessage', params: message('user') }, 'shape'],
    ['by the role of an agent', { path: '/', method: 'SendStreamingMessage', params: message('agent') }, 'shape'],
    ['by the card method that only it has', { path: '/a2a', method: 'GetAgentCard', params: {} }, 'shape'],
    ['weakly with the roles of 1.0', { path: '/a2a', method: 'SendMessage', params: message('ROLE_USER') }, 'grammar'],
    ['weakly without a role', { path: '/a2a', method: 'GetTask', params: { id: 't' } }, 'grammar'],
    ['weakly without params', { path: '/a2a', method: 'ListTasks' }, 'grammar'],
    ['not by a method it lacks', { path: '/a2a', method: 'SubscribeToTask', params: { id: 't' } }, 'no'],
    ['not by a slash method', { path: '/a2a', method: 'message/send', params: message('user') }, 'no'],
    ['not without a method', { path: '/a2a' }, 'no'],
    ['never by the version header alone', { path: '/a2a', version: '1.0' }, 'no'],
  ];
  for (const [why, hints, expected] of cases) it(why, () => expect(cortex.detect(hints)).toBe(expected));

  it('after 1.0 when nothing distinguishes them, unless the task was made in Cortex', () => {
    const get: Hints = { path: '/a2a', method: 'GetTask', params: { id: 't' } };
    expect(registry.detect(get)?.id).toBe('v10');
    expect(registry.detect(get, () => cortex.id)?.id).toBe('cortex');
    expect(registry.detect({ ...get, method: 'SubscribeToTask' }, () => cortex.id)?.id).toBe('v10');
  });
});
