import { describe, expect, it } from 'vitest';
import { countingEnv } from '../../../../test/support/env.ts';
import type { Json } from '../../json.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import { TASK_STATES } from '../../states.ts';
import { attempt } from '../shared/read.ts';
import { model, vocabulary } from './model.ts';

const readPart = (raw: unknown) => attempt(vocabulary.part.read, raw, countingEnv());
const roundTrip = (part: Part) => readPart(JSON.parse(JSON.stringify(vocabulary.part.write(part))));

describe('parts', () => {
  it('writes data that is an object unchanged', () => {
    expect(vocabulary.part.write({ data: { a: [1] } })).toEqual({ data: { a: [1] } });
  });

  for (const data of [[1, 'two', null], 'text', 3.5, true, null, []] as readonly Json[]) {
    it(`writes the data ${JSON.stringify(data)} as text, and takes it back`, () => {
      expect(vocabulary.part.write({ data })).toEqual({ text: JSON.stringify(data), metadata: { data_part_compat: true } });
      const whole: Part = { data, metadata: { a: 1 }, filename: 'd.json', mediaType: 'application/json' };
      expect(roundTrip(whole)).toEqual({ ok: true, value: whole });
      expect(roundTrip({ data })).toEqual({ ok: true, value: { data } });
    });
  }

  it('keeps marked text that is not JSON', () => {
    const text = { text: 'not {json', metadata: { data_part_compat: true } };
    expect(readPart(text)).toEqual({ ok: true, value: text });
  });

  it('does not let marked text set a prototype', () => {
    const text = { text: '{"__proto__":{"a":1}}', metadata: { data_part_compat: true } };
    expect(readPart(text)).toEqual({ ok: true, value: text });
  });

  it('reads and writes a tool answer, which has only metadata', () => {
    const wire = { metadata: { tool_call_id: 'c1', tool_result: [1] } };
    expect(readPart(wire)).toEqual({ ok: true, value: { text: '', ...wire } });
    expect(vocabulary.part.write({ text: '', ...wire })).toEqual(wire);
  });

  it('keeps the metadata of a tool call beside its text', () => {
    const part: Part = { text: 'Client tool required: x', metadata: { tool_call_id: 'c1', tool_name: 'x', consent_message: 'ok?' } };
    expect(vocabulary.part.write(part)).toEqual(part);
    expect(roundTrip(part)).toEqual({ ok: true, value: part });
  });

  it('keeps empty text that answers no tool', () => {
    expect(roundTrip({ text: '', metadata: { tool_call_id: '' } })).toEqual({
      ok: true,
      value: { text: '', metadata: { tool_call_id: '' } },
    });
    expect(vocabulary.part.write({ text: '' })).toEqual({ text: '' });
  });

  for (const wrong of [{}, { metadata: { a: 1 } }, { text: 'a', url: 'b' }, 'text', null, { raw: '!!' }]) {
    it(`refuses ${JSON.stringify(wrong)}`, () => expect(readPart(wrong)).toMatchObject({ ok: false, reason: 'invalid' }));
  }
});

describe('states', () => {
  it('writes only the eight that PromptKit knows', () => {
    const known = ['submitted', 'working', 'completed', 'failed', 'canceled', 'input_required', 'rejected', 'auth_required'];
    for (const state of Object.keys(TASK_STATES) as TaskState[]) expect(known).toContain(vocabulary.stateNames[state]);
    expect(vocabulary.stateNames.TASK_STATE_UNSPECIFIED).toBe('working');
    expect([...vocabulary.states.keys()].sort()).toEqual(known.sort());
  });

  it('refuses another spelling', () => {
    const read = attempt(model.task.read, { id: 't', status: { state: 'input-required' } }, countingEnv());
    expect(read).toMatchObject({ ok: false, path: 'status.state' });
  });
});
