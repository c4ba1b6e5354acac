import { describe, expect, it } from 'vitest';
import type { Choice } from './choices.ts';
import { choiceIn, createChoicesPart, getChoicesFromMessage } from './choices.ts';
import type { Json } from './json.ts';
import { createAgentDataMessage, createAgentPartsMessage, createUserMessage } from './message.ts';

const APPROVAL: readonly Choice[] = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'never', name: 'Reject', kind: 'reject_once' },
];

describe('the choices of a question', () => {
  it('are a data part, and are read back from it', () => {
    const part = createChoicesPart(['red', ...APPROVAL]);
    expect(part).toEqual({ data: { options: [{ optionId: 'red', name: 'red' }, ...APPROVAL] } });
    expect(getChoicesFromMessage(createAgentPartsMessage([{ text: 'Which?' }, part]))).toEqual([
      { optionId: 'red', name: 'red' },
      ...APPROVAL,
    ]);
  });

  it.each<[string, Json]>([
    ['no object', 7],
    ['no options', { option: [] }],
    ['options that are no list', { options: 'red' }],
    ['options without ids', { options: ['red', null, { name: 'red' }, { optionId: 7, name: 'x' }] }],
  ])('are none in data with %s', (_, data) => {
    expect(getChoicesFromMessage(createAgentDataMessage(data))).toEqual([]);
  });

  it('use the id as the name if there is none, and drop unknown kinds', () => {
    const asked = createAgentDataMessage({ options: [{ optionId: 'a', kind: 'allow_root' }] });
    expect(getChoicesFromMessage(asked)).toEqual([{ optionId: 'a', name: 'a' }]);
  });
});

describe('the choice in an answer', () => {
  const chosen = (content: Parameters<typeof createUserMessage>[0], options = APPROVAL) => choiceIn(createUserMessage(content), options);

  it('is an id in a data part', () => {
    expect(chosen([{ text: 'yes' }, { data: { optionId: 'never' } }])).toBe('never');
    expect(chosen([{ text: 'yes' }, { data: { optionId: 'other' } }])).toBeUndefined();
  });

  it('is text that equals an id or a name, ignoring case', () => {
    expect(chosen(' ALWAYS ')).toBe('always');
    expect(chosen('always allow')).toBe('always');
  });

  it('is yes or no, which allow or reject once', () => {
    expect(['y', 'YES', 'n', 'no'].map((word) => chosen(word))).toEqual(['once', 'once', 'never', 'never']);
  });

  it('is the answer to a tool call, as PromptKit sends it', () => {
    const called = (metadata: Readonly<Record<string, Json>>) => chosen([{ text: '', metadata: { tool_call_id: 'c1', ...metadata } }]);
    expect(called({ rejected: 'too risky' })).toBe('never');
    expect(called({ tool_result: 'Always allow' })).toBe('always');
    expect([called({ tool_result: true }), called({ tool_result: false })]).toEqual(['once', 'never']);
    for (const none of [{}, { tool_result: { ok: true } }, { rejected: false }, { tool_call_id: '', rejected: 'x' }])
      expect(called(none)).toBeUndefined();
  });

  it('is undefined for anything else: approvals fail closed', () => {
    for (const text of ['', 'sure', 'yes please', 'allow everything', 'once always']) expect(chosen(text), text).toBeUndefined();
    expect(chosen([{ data: { option: 'once' } }])).toBeUndefined();
    expect(chosen('yes', [{ optionId: 'a', name: 'A' }])).toBeUndefined();
  });

  it('is undefined if it fits two options', () => {
    const twins: readonly Choice[] = [
      { optionId: 'a', name: 'Go', kind: 'allow_once' },
      { optionId: 'b', name: 'go', kind: 'allow_once' },
    ];
    expect(chosen('go', twins)).toBeUndefined();
    expect(chosen('yes', twins)).toBeUndefined();
  });
});
