import { describe, expect, it } from 'vitest';
import { createRegistry } from '../create-registry.ts';
import type { Hints } from '../dialect.ts';
import { DIALECTS } from '../registry.ts';
import { sam, samDocumented } from './dialect.ts';

const typed = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };
const bare = { role: 'user', parts: [{ text: 'hi' }] };

describe('the documented spelling', () => {
  const cases: readonly (readonly [string, Hints, string])[] = [
    ['its own streaming method, whatever the body', { method: 'tasks/send-streaming', params: null }, 'shape'],
    ['message_id', { method: 'tasks/send', params: { message: { ...typed, message_id: 'm' } } }, 'shape'],
    ['context_id', { method: 'tasks/send', params: { message: { ...typed, context_id: 'c' } } }, 'shape'],
    [
      'task_id, even beside an id in the params',
      { method: 'tasks/send', params: { id: 't', message: { ...typed, task_id: 't' } } },
      'shape',
    ],
    ['parts without type, and no id in the params', { method: 'tasks/send', params: { message: bare } }, 'shape'],
    ['parts without type under an id: the earliest 0.1', { method: 'tasks/send', params: { id: 't', message: bare } }, 'no'],
    ['parts with type: 0.1 and Society', { method: 'tasks/send', params: { message: typed } }, 'no'],
    ['some parts with type', { method: 'tasks/send', params: { message: { ...bare, parts: [...bare.parts, ...typed.parts] } } }, 'no'],
    ['no parts', { method: 'tasks/send', params: { message: { role: 'user', parts: [] } } }, 'no'],
    ['parts that are no list', { method: 'tasks/send', params: { message: { role: 'user', parts: 'hi' } } }, 'no'],
    ['no message', { method: 'tasks/send', params: {} }, 'no'],
    ['no params', { method: 'tasks/send' }, 'no'],
    ['message/send, in any spelling', { method: 'message/send', params: { message: { ...bare, message_id: 'm' } } }, 'no'],
    ['message/stream', { method: 'message/stream', params: { message: { ...bare, message_id: 'm' } } }, 'no'],
    ['tasks/cancel, which others have too', { method: 'tasks/cancel', params: { id: 't' } }, 'grammar'],
    ['no method', { path: '/' }, 'no'],
  ];
  it.each(cases)('%s', (_, hints, confidence) => {
    expect(samDocumented.detect(hints)).toBe(confidence);
    expect(sam.detect(hints)).toBe('no');
  });

  it('is the only spelling of SAM that the registry detects over HTTP', () => {
    const registry = createRegistry(DIALECTS);
    expect(registry.detect({ path: '/a2a', method: 'tasks/send', params: { message: { ...bare, message_id: 'm' } } })?.id).toBe(
      'sam.documented',
    );
    expect(registry.detect({ path: '/a2a', method: 'message/send', params: { message: { ...bare, kind: 'message' } } })?.id).not.toBe(
      'sam',
    );
  });
});
