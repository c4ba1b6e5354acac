import { describe, expect, it } from 'vitest';
import { createRegistry } from '../create-registry.ts';
import type { Confidence, Hints } from '../dialect.ts';
import { DIALECTS } from '../registry.ts';
import { detect } from './detect.ts';

const message = (...parts: unknown[]) => ({ message: { messageId: '', role: 'user', parts } });
const FLAT = message({ text: 'hi' });

describe('PromptKit is detected', () => {
  const cases: readonly (readonly [why: string, hints: Hints, expected: Confidence])[] = [
    ['by flat parts on its path', { path: '/a2a', method: 'message/send', params: FLAT }, 'shape'],
    ['by flat parts with a trailing slash', { path: '/a2a/', method: 'message/stream', params: FLAT }, 'shape'],
    ['by flat parts on any other path', { path: '/', method: 'message/send', params: FLAT }, 'shape'],
    ['by flat parts without a path', { method: 'message/send', params: FLAT }, 'shape'],
    ['by a tool answer', { path: '/a2a', method: 'message/send', params: message({ metadata: { tool_call_id: 'c' } }) }, 'shape'],
    ['by its own methods', { path: '/a2a', method: 'tasks/list', params: { contextId: '' } }, 'shape'],
    ['by subscribe', { path: '/agents/x/a2a', method: 'tasks/subscribe', params: { id: 't' } }, 'shape'],
    ['by its path where methods are shared', { path: '/a2a', method: 'tasks/get', params: { id: 't' } }, 'mount'],
    ['by its path on cancel', { path: '/a2a', method: 'tasks/cancel', params: { id: 't' } }, 'mount'],
    ['weakly on other paths', { path: '/', method: 'tasks/get', params: { id: 't' } }, 'grammar'],
    ['never by a list on /', { path: '/', method: 'tasks/list', params: {} }, 'no'],
    ['weakly without params', { path: '/a2a', method: 'message/send' }, 'grammar'],
    ['weakly without parts', { path: '/a2a', method: 'message/send', params: { message: {} } }, 'grammar'],
    ['weakly with empty parts', { path: '/a2a', method: 'message/send', params: message() }, 'grammar'],
    ['weakly with parts of no known member', { path: '/a2a', method: 'message/send', params: message({ file: {}, text: 'x' }) }, 'grammar'],
    ['weakly with a part that is no object', { path: '/a2a', method: 'message/send', params: message('hi') }, 'grammar'],
    ['never with kind on a part', { path: '/a2a', method: 'message/send', params: message({ kind: 'text', text: 'hi' }) }, 'no'],
    [
      'never with kind on the message',
      { path: '/a2a', method: 'message/send', params: { message: { ...FLAT.message, kind: 'message' } } },
      'no',
    ],
    ['never with type on a part', { path: '/a2a', method: 'message/send', params: message({ type: 'text', text: 'hi' }) }, 'no'],
    ['never on the path of the official SDKs', { path: '/a2a/jsonrpc', method: 'message/send', params: FLAT }, 'no'],
    ['never there with a slash', { path: '/a2a/jsonrpc/', method: 'tasks/list', params: {} }, 'no'],
    ['never on the path of Cortex', { path: '/api/a2a', method: 'tasks/list', params: {} }, 'no'],
    ['never by a method it lacks', { path: '/a2a', method: 'tasks/resubscribe', params: { id: 't' } }, 'no'],
    ['never by Pascal case', { path: '/a2a', method: 'SendMessage', params: FLAT }, 'no'],
    ['never without a method', { path: '/a2a' }, 'no'],
  ];
  for (const [why, hints, expected] of cases) it(why, () => expect(detect(hints)).toBe(expected));

  it('by the registry, and a task that was made in it keeps its dialect', () => {
    const registry = createRegistry(DIALECTS);
    expect(registry.detect({ path: '/a2a', method: 'message/send', params: FLAT })?.id).toBe('promptkit');
    const made = registry.byId('promptkit');
    expect(registry.detect({ path: '/a2a', method: 'tasks/get', params: { id: 't' } }, () => made?.id)).toBe(made);
  });
});
