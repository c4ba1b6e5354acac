import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Agent, Json, Message, SchemaIssue, StandardSchema } from '#protocol';
import { createUserMessage } from '#protocol';
import type { FakeTurn } from '../../test/support/turns.ts';
import { fakeTurn, inShort, outputs } from '../../test/support/turns.ts';
import { defineAgent } from './define.ts';
import { ask, data, reject, text } from './outputs.ts';
import { SKILL_SCHEMAS } from './skills.ts';

type Shape<T> = { readonly [Key in keyof T]: 'number' | 'string' };

/** The least that Standard Schema asks of a library: an object of numbers and texts, whose texts are trimmed. */
function objectOf<T extends object>(shape: Shape<T>, extras: object = {}): StandardSchema<T, T> {
  const validate = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return { issues: [{ message: 'must be an object' }] };
    const members = new Map(Object.entries(value));
    const issues = Object.entries(shape).flatMap(([key, type]): SchemaIssue[] =>
      typeof members.get(key) === type ? [] : [{ message: `must be a ${type}`, path: [key] }],
    );
    if (issues.length > 0) return { issues };
    const kept = Object.keys(shape).map((key) => [key, typeof members.get(key) === 'string' ? members.get(key).trim() : members.get(key)]);
    return { value: Object.fromEntries(kept) as T };
  };
  return { ...extras, '~standard': { version: 1, vendor: 'by-hand', validate } };
}

const PAIR = objectOf<{ a: number; b: number }>({ a: 'number', b: 'number' });
const SUM = objectOf<{ sum: number }>({ sum: 'number' });
const NAMED = { name: 'test', description: 'For a test.' };

const adder = defineAgent({
  ...NAMED,
  skills: [{ id: 'add', description: 'Adds.', input: PAIR, output: SUM }],
  run: (turn) => {
    expectTypeOf(turn.input).toEqualTypeOf<{ a: number; b: number }>();
    expectTypeOf(turn.skill).toEqualTypeOf<'add'>();
    return { sum: turn.input.a + turn.input.b };
  },
});

const several = defineAgent({
  ...NAMED,
  skills: [
    { id: 'add', description: 'Adds.', input: PAIR },
    { id: 'greet', description: 'Greets.', input: objectOf<{ who: string }>({ who: 'string' }) },
    { id: 'chat', description: 'Chats.' },
  ],
  run: (turn) => {
    if (turn.skill === 'add') return `${turn.input.a + turn.input.b}`;
    if (turn.skill === 'greet') return `hello ${turn.input.who}`;
    expectTypeOf(turn.input).toEqualTypeOf<undefined>();
    return `${turn.skill}: ${turn.text}`;
  },
});

async function shortly(agent: Agent, content: Parameters<typeof fakeTurn>[0], options: FakeTurn = {}): Promise<readonly string[]> {
  return (await outputs(agent, fakeTurn(content, options))).map(inShort);
}
const forSkill = (skillId: string): FakeTurn => ({ metadata: { skillId } });

describe('the input of a skill', () => {
  it('is the first data part', async () => {
    expect(await shortly(adder, [{ text: 'please' }, { data: { a: 1, b: 2 } }, { data: { a: 9, b: 9 } }])).toEqual(['data {"sum":3}']);
  });

  it('or the text, as JSON', async () => {
    expect(await shortly(adder, '{"a": 20, "b": 22}')).toEqual(['data {"sum":42}']);
  });

  it('as text is held to what a data part is held to', async () => {
    const seen: unknown[] = [];
    const any: StandardSchema = { '~standard': { version: 1, vendor: 'v', validate: (value) => ({ value: seen.push(value) }) } };
    const agent = defineAgent({ ...NAMED, skills: [{ id: 's', description: 'S.', input: any }], run: () => undefined });
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    for (const text of ['7', nested(64), nested(65), nested(100_000), '{"a":{"__proto__":{"b":1}}}', ''])
      await outputs(agent, fakeTurn(text));
    expect(seen.map((value) => typeof value)).toEqual(['number', 'object', 'string', 'string', 'string', 'string']);
  });

  it('is what the schema makes of it', async () => {
    expect(await shortly(several, [{ data: { who: ' you ', and: 'me' } }], forSkill('greet'))).toEqual(['text hello you']);
  });

  it('that does not fit is refused, for people and for programs', async () => {
    const refused = await outputs(adder, fakeTurn([{ data: { a: 1, b: 'two' } }]));
    expect(refused).toMatchObject([
      {
        kind: 'reject',
        reason: {
          parts: [
            { text: 'The input does not fit skill add: b: must be a number' },
            { data: { skillId: 'add', problems: [{ path: 'b', message: 'must be a number' }] } },
          ],
        },
      },
    ]);
    expect(await shortly(adder, 'one and two')).toEqual(['reject The input does not fit skill add: must be an object']);
  });

  it('names the place of a problem as a path', async () => {
    const issues: SchemaIssue[] = [{ message: 'is odd', path: ['items', { key: 0 }, 'price', 1] }];
    const odd: StandardSchema = { '~standard': { version: 1, vendor: 'v', validate: async () => ({ issues }) } };
    const agent = defineAgent({ ...NAMED, skills: [{ id: 's', description: 'S.', input: odd }], run: () => 'ran' });
    expect(await shortly(agent, 'x')).toEqual(['reject The input does not fit skill s: items[0].price[1]: is odd']);
  });

  it('stays that of the task: a later message answers a question', async () => {
    const first: Message = createUserMessage([{ data: { a: 1, b: 2 } }], forSkill('add'));
    expect(await shortly(several, 'yes', { history: [first] })).toEqual(['text 3']);
    expect(await shortly(several, 'yes', { history: [first], ...forSkill('chat') })).toEqual(['text 3']);
  });
});

describe('the skill', () => {
  it('is the one that the message names, or the task, or else none of several', async () => {
    expect(await shortly(several, '{"a":1,"b":2}', forSkill('add'))).toEqual(['text 3']);
    expect(await shortly(several, '{"a":1,"b":2}', { taskMetadata: { skillId: 'add' } })).toEqual(['text 3']);
    expect(await shortly(several, 'hi', forSkill('chat'))).toEqual(['text chat: hi']);
    expect(await shortly(several, 'hi')).toEqual(['text undefined: hi']);
    expect(await shortly(several, 'hi', { metadata: { skillId: 7 } })).toEqual(['text undefined: hi']);
  });

  it('that nobody has is refused where something would run unchecked', async () => {
    expect(await shortly(several, 'hi', forSkill('fly'))).toEqual(['reject There is no skill "fly" here. There is: add, greet, chat.']);
    const plain = defineAgent({ ...NAMED, skills: [{ id: 'chat', description: 'C.' }], run: (turn) => turn.skill });
    expect(await shortly(plain, 'hi', forSkill('fly'))).toEqual(['text chat']);
  });
});

describe('the output of a skill', () => {
  const giving = (run: (turn: { readonly text: string }) => never): Agent =>
    defineAgent({ ...NAMED, skills: [{ id: 'add', description: 'Adds.', output: SUM }], run });

  it('is what is returned, as the schema makes it', async () => {
    expect(
      await shortly(
        giving(() => ({ sum: 1, secret: 2 }) as never),
        'x',
      ),
    ).toEqual(['data {"sum":1}']);
  });

  it('is what is returned even if it looks like something else', async () => {
    const TEXT = objectOf<{ text: string }>({ text: 'string' });
    const agent = defineAgent({ ...NAMED, skills: [{ id: 't', description: 'T.', output: TEXT }], run: () => ({ text: 'a part?' }) });
    expect(await shortly(agent, 'x')).toEqual(['data {"text":"a part?"}']);
  });

  it('is checked where it is yielded as data; words pass', async () => {
    const agent = defineAgent({
      ...NAMED,
      skills: [{ id: 'add', description: 'Adds.', output: SUM }],
      async *run(turn) {
        yield text('thinking');
        yield data(JSON.parse(turn.text) as Json);
      },
    });
    expect(await shortly(agent, '{"sum": 4, "x": 1}')).toEqual(['text thinking', 'data {"sum":4}']);
    await expect(shortly(agent, '{"sum": "4"}')).rejects.toMatchObject({
      kind: 'INVALID_AGENT_RESPONSE',
      message: "The agent's output does not fit skill add: sum: must be a number",
    });
  });

  it('that does not fit fails the task', async () => {
    await expect(
      shortly(
        giving(() => 'three' as never),
        'x',
      ),
    ).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
  });

  it('may be a last word instead, or nothing', async () => {
    expect(
      await shortly(
        giving(() => reject('no') as never),
        'x',
      ),
    ).toEqual(['reject no']);
    expect(
      await shortly(
        giving(() => ask('why?') as never),
        'x',
      ),
    ).toEqual(['ask why?']);
    expect(
      await shortly(
        giving(() => undefined as never),
        'x',
      ),
    ).toEqual([]);
  });

  it('is checked by the compiler, where there is one', () => {
    // @ts-expect-error a sum is a number
    defineAgent({ ...NAMED, skills: [{ id: 'add', description: 'Adds.', output: SUM }], run: () => ({ sum: 'three' }) });
  });
});

describe('the card', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } } };
  const published = (input: StandardSchema, output?: StandardSchema) =>
    defineAgent({
      ...NAMED,
      skills: [
        { id: 'add', description: 'Adds.', input, ...(output === undefined ? {} : { output }) },
        { id: 'chat', description: 'C.' },
      ],
      run: () => '',
    }).card;

  it('shows the schemas as JSON Schema, where the library can tell', () => {
    const companion: StandardSchema = {
      '~standard': {
        ...PAIR['~standard'],
        jsonSchema: { input: ({ target }) => ({ $target: target, side: 'in' }), output: () => ({ side: 'out' }) },
      },
    };
    const [extension] = published(companion, companion).capabilities.extensions ?? [];
    expect(extension).toEqual({
      uri: SKILL_SCHEMAS,
      description: expect.any(String),
      params: {
        skills: {
          add: {
            input: { vendor: 'by-hand', schema: { $target: 'draft-2020-12', side: 'in' } },
            output: { vendor: 'by-hand', schema: { side: 'out' } },
          },
        },
      },
    });
  });

  it('by a method of the schema, too', () => {
    const shown = { params: { skills: { add: { input: { vendor: 'by-hand', schema } } } } };
    expect(published(objectOf({}, { toJSONSchema: () => schema })).capabilities.extensions).toMatchObject([shown]);
    expect(published(objectOf({}, { toJsonSchema: () => schema })).capabilities.extensions).toMatchObject([shown]);
  });

  it('only names a schema that can not be shown', () => {
    const throws = () => {
      throw new Error('a transform has no JSON Schema');
    };
    for (const extras of [{}, { toJSONSchema: throws }, { toJSONSchema: () => 'text' }]) {
      const [extension] = published(objectOf({}, extras)).capabilities.extensions ?? [];
      expect(extension?.params).toEqual({ skills: { add: { input: { vendor: 'by-hand' } } } });
    }
  });

  it('says that such a skill takes and gives JSON, and keeps the schema itself off the skill', () => {
    const [add, chat] = published(PAIR, SUM).skills;
    expect(add).toEqual({
      id: 'add',
      name: 'add',
      description: 'Adds.',
      tags: ['add'],
      inputModes: ['application/json', 'text/plain'],
      outputModes: ['application/json'],
    });
    expect(chat?.inputModes).toBeUndefined();
  });

  it('says nothing of schemas where there are none', () => {
    const { card } = defineAgent({ ...NAMED, skills: [{ id: 'chat', description: 'C.' }], run: () => '' });
    expect(card.capabilities.extensions).toBeUndefined();
  });
});
