import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import { sam, samDocumented } from './dialect.ts';
import { isSignal, SIGNALS, signalOf } from './signals.ts';

describe('signals', () => {
  it.each(SIGNALS)('%s passes through both spellings unchanged', (type) => {
    const part = { data: { type, nested: { deep: [1, null, 'x'] } }, metadata: { forwarded_from_peer: 'Other' } };
    const event = {
      statusUpdate: {
        taskId: 'T',
        contextId: 'S',
        status: { state: 'TASK_STATE_WORKING', message: { messageId: 'm', role: 'ROLE_AGENT', parts: [part] } },
      },
    } as never;
    for (const dialect of [sam, samDocumented]) {
      expect(dialect.decode('event', dialect.encode('event', event), countingEnv())).toEqual({ ok: true, value: event });
    }
    expect(signalOf(part)).toBe(type);
  });

  it('are distinguished from other data', () => {
    for (const part of [
      { data: { type: 'order' } },
      { data: ['tool_result'] },
      { data: 'tool_result' },
      { text: 'tool_result' },
      { data: {} },
    ]) {
      expect(isSignal(part as never)).toBe(false);
    }
    expect(isSignal({ data: { type: 'tool_result' } })).toBe(true);
  });
});
