import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Agent, Metadata, Part } from '#protocol';
import { contextId, createAgentTextMessage, createChoicesPart, createUserMessage, LOCAL_PRINCIPAL } from '#protocol';
import { fakeTurn, inShort, outputs } from '../../test/support/turns.ts';
import { defineAgent } from './define.ts';
import { artifact, ask, auth, complete, data, fail, message, reject, status, text } from './outputs.ts';
import type { Returned, Yielded } from './yielded.ts';

const NAMED = { name: 'test', description: 'For a test.' };
const PARTS: readonly Part[] = [{ text: 'one' }, { raw: 'AQID', filename: 'b.bin' }];

async function shortly(agent: Agent, words = 'hi'): Promise<readonly string[]> {
  return (await outputs(agent, fakeTurn(words))).map(inShort);
}

describe('a generator', () => {
  it('yields text, parts and outputs of the helpers', async () => {
    const agent = defineAgent({
      ...NAMED,
      async *run() {
        yield 'chunk';
        yield { data: { a: 1 } };
        yield PARTS;
        yield status('on it');
        yield text('more', { artifact: 'x', last: true });
        yield artifact({ name: 'a', parts: PARTS });
        yield data([1, 2]);
        yield complete('bye', { cost: 3 });
      },
    });
    expect(await outputs(agent, fakeTurn('hi'))).toEqual([
      { kind: 'text', text: 'chunk' },
      { kind: 'artifact', parts: [{ data: { a: 1 } }] },
      { kind: 'artifact', parts: PARTS },
      { kind: 'status', message: expect.objectContaining({ role: 'ROLE_AGENT', parts: [{ text: 'on it' }] }) },
      { kind: 'text', text: 'more', artifact: 'x', last: true },
      { kind: 'artifact', name: 'a', parts: PARTS },
      { kind: 'data', data: [1, 2] },
      { kind: 'complete', message: expect.objectContaining({ parts: [{ text: 'bye' }] }), metadata: { cost: 3 } },
    ]);
  });

  it('may be synchronous, and may return its final output', async () => {
    const agent = defineAgent({
      ...NAMED,
      *run() {
        yield 'a';
        return reject('enough');
      },
    });
    expect(await shortly(agent)).toEqual(['text a', 'reject enough']);
  });

  it('runs its finally blocks when the reader stops', async () => {
    let isCleaned = false;
    const agent = defineAgent({
      ...NAMED,
      async *run() {
        try {
          yield 'a';
          yield 'b';
        } finally {
          isCleaned = true;
        }
      },
    });
    for await (const _ of agent.run(fakeTurn('hi'))) break;
    expect(isCleaned).toBe(true);
  });

  it.each([
    [undefined],
    [null],
    [7],
    [{ a: 1 }],
    [[]],
    [[{ text: 'a' }, 'b']],
    [{ text: 7 }],
    [{ text: 'a', url: 'b' }],
    [{ kind: 'shout' }],
  ])('that yields %j gets an error, and the value does not reach the task', async (value) => {
    const agent = defineAgent({
      ...NAMED,
      async *run() {
        yield value as never;
      },
    });
    await expect(outputs(agent, fakeTurn('hi'))).rejects.toThrow(/an agent yielded .*data\(value\) sends any JSON/);
  });

  it('passes exceptions on', async () => {
    const agent = defineAgent({
      ...NAMED,
      // biome-ignore lint/correctness/useYield: it throws first
      async *run(): AsyncGenerator<Yielded> {
        throw new Error('broken');
      },
    });
    await expect(outputs(agent, fakeTurn('hi'))).rejects.toThrow('broken');
  });
});

describe('a function', () => {
  const returns: readonly [string, () => Returned | Promise<Returned>, readonly string[]][] = [
    ['a string', () => 'hello', ['text hello']],
    ['a promise of one', async () => 'hello', ['text hello']],
    ['nothing', () => undefined, []],
    [
      'a part',
      (): Part => ({ url: 'https://a.example/f', mediaType: 'text/plain' }),
      ['artifact [{"url":"https://a.example/f","mediaType":"text/plain"}]'],
    ],
    ['parts', () => PARTS, [`artifact ${JSON.stringify(PARTS)}`]],
    ['other JSON', () => ({ text: 'not a part', score: 1 }), ['data {"text":"not a part","score":1}']],
    ['a list that is no parts', () => [{ text: 'a' }, 2], ['data [{"text":"a"},2]']],
    ['an empty list', () => [], ['data []']],
    ['what has the name of a part, but not its type', () => ({ url: 7 }), ['data {"url":7}']],
    ['null', () => null, ['data null']],
    ['a number', async () => 42, ['data 42']],
    ['a question', () => ask('which?'), ['ask which?']],
    ['a bare question', () => ask(), ['ask']],
    ['a wish for credentials', () => auth('log in'), ['auth log in']],
    ['a refusal', () => reject('no'), ['reject no']],
    ['a failure', () => fail([{ text: 'out of' }, { text: 'ideas' }]), ['fail out of\nideas']],
    ['a direct message', () => message({ text: 'hi' }), ['message hi']],
    ['closing words', () => complete(createAgentTextMessage('bye')), ['complete bye']],
  ];
  it.each(returns)('returns %s', async (_, run, expected) => {
    expect(await shortly(defineAgent({ ...NAMED, run }))).toEqual(expected);
  });

  it('returns anything that can be awaited', async () => {
    // biome-ignore lint/suspicious/noThenProperty: that is what it is about
    const later = { then: (resolve: (value: string) => void) => resolve('hi') } as unknown as Promise<string>;
    expect(await shortly(defineAgent({ ...NAMED, run: () => later }))).toEqual(['text hi']);
  });

  it('returns a stream of chunks, like the one of a model client', async () => {
    const chunks = new ReadableStream<string>({
      start: (controller) => {
        controller.enqueue('a');
        controller.enqueue('b');
        controller.close();
      },
    });
    expect(await shortly(defineAgent({ ...NAMED, run: async () => chunks }))).toEqual(['text a', 'text b']);
  });
});

describe('the turn', () => {
  it('has the content of the message', async () => {
    const file: Part = { raw: 'AQID', filename: 'b.bin' };
    const agent = defineAgent({
      ...NAMED,
      run: ({ text, data, files, parts, contextId, principal, attempt, history, skill, input }) => [
        { data: { text, data: data ?? null, files: files.length, parts: parts.length, attempt, history: history.length } },
        { text: `${contextId} ${principal.id} ${skill} ${input}` },
      ],
    });
    expect(await shortly({ ...agent })).toEqual([
      'artifact [{"data":{"text":"hi","data":null,"files":0,"parts":1,"attempt":1,"history":0}},{"text":"context-1 local undefined undefined"}]',
    ]);
    const [output] = await outputs(agent, fakeTurn([{ text: 'a' }, file, { data: 7 }, { data: 8 }, { text: 'b' }]));
    expect(output).toMatchObject({ parts: [{ data: { text: 'a\nb', data: 7, files: 1, parts: 5 } }, {}] });
  });

  it('has the value of open, with its type', async () => {
    const agent = defineAgent({
      ...NAMED,
      open: async (id) => ({ id, seen: 2 }),
      run: (turn) => {
        expectTypeOf(turn.opened.seen).toEqualTypeOf<number>();
        return `${turn.opened.seen}`;
      },
    });
    const opened = await agent.open?.(contextId('c'));
    expect(opened).toEqual({ id: 'c', seen: 2 });
    expect((await outputs(agent, fakeTurn('hi', { opened }))).map(inShort)).toEqual(['text 2']);
  });

  it('asks within the run, and returns the chosen option', async () => {
    const agent = defineAgent({
      ...NAMED,
      async *run(turn) {
        const colour = await turn.ask('Which colour?', { options: ['red', 'blue'] });
        yield `${colour.option} ${colour.text}`;
        yield `${(await turn.ask('Sure?')).option}`;
      },
    });
    const turn = fakeTurn('paint', { answers: ['Blue', 'red'] });
    expect((await outputs(agent, turn)).map(inShort)).toEqual(['text blue Blue', 'text undefined']);
    expect(turn.asked.map(({ parts }) => parts)).toEqual([
      [
        { text: 'Which colour?' },
        {
          data: {
            options: [
              { optionId: 'red', name: 'red' },
              { optionId: 'blue', name: 'blue' },
            ],
          },
        },
      ],
      [{ text: 'Sure?' }],
    ]);
  });

  it('asks for an approval again until an option is chosen', async () => {
    const options = [
      { optionId: 'go', name: 'Go', kind: 'allow_once' },
      { optionId: 'stop', name: 'Stop', kind: 'reject_once' },
    ] as const;
    const within = defineAgent({ ...NAMED, run: async (turn) => `${(await turn.ask('May I?', { options })).option}` });
    const turn = fakeTurn('do it', { answers: ['what for?', 'yes'] });
    expect((await outputs(within, turn)).map(inShort)).toEqual(['text go']);
    expect(turn.asked.map(({ parts }) => parts)).toEqual([turn.asked[0]?.parts, turn.asked[0]?.parts]);
    const between = defineAgent({ ...NAMED, run: (answered) => `${answered.option}` });
    const question = { ...createAgentTextMessage('May I?'), parts: [{ text: 'May I?' }, createChoicesPart(options)] };
    const later = (text: string) => outputs(between, fakeTurn(text, { history: [createUserMessage('do it'), question] }));
    expect(await later('what for?')).toMatchObject([{ kind: 'ask', question: { parts: question.parts } }]);
    expect((await later('no')).map(inShort)).toEqual(['text stop']);
  });

  it('reads the answer to a tool call of PromptKit', async () => {
    const agent = defineAgent({ ...NAMED, run: (turn) => JSON.stringify([turn.data, turn.option]) });
    const question = { ...createAgentTextMessage('Which?'), parts: [createChoicesPart(['red', 'blue'])] };
    const answered = (metadata: Metadata) => outputs(agent, fakeTurn([{ text: '', metadata }], { history: [question] }));
    expect((await answered({ tool_call_id: 'c', tool_result: 'red' })).map(inShort)).toEqual(['text ["red","red"]']);
    expect((await answered({ tool_call_id: 'c', tool_result: { a: 1 } })).map(inShort)).toEqual(['text [{"a":1},null]']);
  });

  it('knows the option that a later message chooses', async () => {
    const agent = defineAgent({ ...NAMED, run: (turn) => `${turn.option}` });
    const question = { ...createAgentTextMessage('Which?'), parts: [createChoicesPart(['red', 'blue'])] };
    const turn = fakeTurn('red', { history: [createUserMessage('paint'), question] });
    expect((await outputs(agent, turn)).map(inShort)).toEqual(['text red']);
  });
});

describe('the definition', () => {
  it('fails an interrupted run by default', () => {
    expect(defineAgent({ ...NAMED, run: () => '' }).recovery).toBe('fail');
    expect(defineAgent({ ...NAMED, recovery: 'resume', run: () => '' }).recovery).toBe('resume');
  });

  it('treats a repeated message id as a repeated send by default', () => {
    expect(defineAgent({ ...NAMED, run: () => '' }).repeats).toBeUndefined();
    expect(defineAgent({ ...NAMED, repeats: 'anew', run: () => '' }).repeats).toBe('anew');
  });

  it('has an extended card only with the option extendedCard', async () => {
    const agent = defineAgent({
      ...NAMED,
      extendedCard: (card, { id }) => ({ ...card, description: `For ${id}.` }),
      run: () => '',
    });
    expect(agent.card.capabilities.extendedAgentCard).toBe(true);
    expect(await agent.extendedCard?.(LOCAL_PRINCIPAL)).toEqual({ ...agent.card, description: 'For local.' });
    const without = defineAgent({ ...NAMED, run: () => '' });
    expect(without.card.capabilities.extendedAgentCard).toBeUndefined();
    expect(without.extendedCard).toBeUndefined();
  });

  it('is rejected at once without a name, or with two skills of the same id', () => {
    const skill = { id: 'a', description: 'A.' };
    expect(() => defineAgent({ ...NAMED, name: ' ', run: () => '' })).toThrow('needs a name');
    expect(() => defineAgent({ ...NAMED, skills: [skill, skill], run: () => '' })).toThrow('two skills have the id a');
    expect(() => defineAgent({ ...NAMED, skills: [{ ...skill, id: '' }], run: () => '' })).toThrow('needs an id');
  });

  it('of an echo agent is under ten lines', async () => {
    const file = new URL('../../examples/echo/agent.ts', import.meta.url);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThan(10);
    const { default: echo } = (await import(file.href)) as { default: Agent };
    expect(await outputs(echo, fakeTurn(PARTS))).toEqual([{ kind: 'artifact', parts: PARTS }]);
  });
});
