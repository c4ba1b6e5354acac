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

  it('is the text parsed as JSON, if there is no data part', async () => {
    expect(await shortly(adder, '{"a": 20, "b": 22}')).toEqual(['data {"sum":42}']);
  });

  it('has the same limits as text and as a data part', async () => {
    const seen: unknown[] = [];
    const any: StandardSchema = { '~standard': { version: 1, vendor: 'v', validate: (value) => ({ value: seen.push(value) }) } };
    const agent = defineAgent({ ...NAMED, skills: [{ id: 's', description: 'S.', input: any }], run: () => undefined });
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    for (const text of ['7', nested(64), nested(65), nested(100_000), '{"a":{"__proto__":{"b":1}}}', ''])
      await outputs(agent, fakeTurn(text));
    expect(seen.map((value) => typeof value)).toEqual(['number', 'object', 'string', 'string', 'string', 'string']);
  });

  it('is the result of the schema', async () => {
    expect(await shortly(several, [{ data: { who: ' you ', and: 'me' } }], forSkill('greet'))).toEqual(['text hello you']);
  });

  it('is rejected if it does not match, with text for people and data for programs', async () => {
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

  it('reports the path of a problem', async () => {
    const issues: SchemaIssue[] = [{ message: 'is odd', path: ['items', { key: 0 }, 'price', 1] }];
    const odd: StandardSchema = { '~standard': { version: 1, vendor: 'v', validate: async () => ({ issues }) } };
    const agent = defineAgent({ ...NAMED, skills: [{ id: 's', description: 'S.', input: odd }], run: () => 'ran' });
    expect(await shortly(agent, 'x')).toEqual(['reject The input does not fit skill s: items[0].price[1]: is odd']);
  });

  it('stays the same for later messages of the task', async () => {
    const first: Message = createUserMessage([{ data: { a: 1, b: 2 } }], forSkill('add'));
    expect(await shortly(several, 'yes', { history: [first] })).toEqual(['text 3']);
    expect(await shortly(several, 'yes', { history: [first], ...forSkill('chat') })).toEqual(['text 3']);
  });
});

describe('the skill', () => {
  it('is the one that the message or the task names, or none if there are several', async () => {
    expect(await shortly(several, '{"a":1,"b":2}', forSkill('add'))).toEqual(['text 3']);
    expect(await shortly(several, '{"a":1,"b":2}', { taskMetadata: { skillId: 'add' } })).toEqual(['text 3']);
    expect(await shortly(several, 'hi', forSkill('chat'))).toEqual(['text chat: hi']);
    expect(await shortly(several, 'hi')).toEqual(['text undefined: hi']);
    expect(await shortly(several, 'hi', { metadata: { skillId: 7 } })).toEqual(['text undefined: hi']);
  });

  it('is rejected if it is unknown and skills have schemas', async () => {
    expect(await shortly(several, 'hi', forSkill('fly'))).toEqual(['reject There is no skill "fly" here. Known skills: add, greet, chat.']);
    const plain = defineAgent({ ...NAMED, skills: [{ id: 'chat', description: 'C.' }], run: (turn) => turn.skill });
    expect(await shortly(plain, 'hi', forSkill('fly'))).toEqual(['text chat']);
  });
});

describe('the output of a skill', () => {
  const giving = (run: (turn: { readonly text: string }) => never): Agent =>
    defineAgent({ ...NAMED, skills: [{ id: 'add', description: 'Adds.', output: SUM }], run });

  it('is the returned value, after the schema', async () => {
    expect(
      await shortly(
        giving(() => ({ sum: 1, secret: 2 }) as never),
        'x',
      ),
    ).toEqual(['data {"sum":1}']);
  });

  it('is the returned value even if it looks like parts', async () => {
    const TEXT = objectOf<{ text: string }>({ text: 'string' });
    const agent = defineAgent({ ...NAMED, skills: [{ id: 't', description: 'T.', output: TEXT }], run: () => ({ text: 'a part?' }) });
    expect(await shortly(agent, 'x')).toEqual(['data {"text":"a part?"}']);
  });

  it('is checked when it is yielded as data; text is not', async () => {
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

  it('fails the task if it does not match', async () => {
    await expect(
      shortly(
        giving(() => 'three' as never),
        'x',
      ),
    ).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
  });

  it('may be a final output or nothing instead', async () => {
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

  it('is checked by the compiler if the agent has one skill', () => {
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

  it('shows the schemas as JSON Schema, if the library can convert them', () => {
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

  it('shows the schemas also if the schema library converts to JSON Schema itself', () => {
    const shown = { params: { skills: { add: { input: { vendor: 'by-hand', schema } } } } };
    expect(published(objectOf({}, { toJSONSchema: () => schema })).capabilities.extensions).toMatchObject([shown]);
    expect(published(objectOf({}, { toJsonSchema: () => schema })).capabilities.extensions).toMatchObject([shown]);
  });

  it('names a schema that can’t be converted', () => {
    const throws = () => {
      throw new Error('a transform has no JSON Schema');
    };
    for (const extras of [{}, { toJSONSchema: throws }, { toJSONSchema: () => 'text' }]) {
      const [extension] = published(objectOf({}, extras)).capabilities.extensions ?? [];
      expect(extension?.params).toEqual({ skills: { add: { input: { vendor: 'by-hand' } } } });
    }
  });

  it('declares application/json for a skill with a schema, and keeps the schema out of the skill', () => {
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

  it('has no schema extension without schemas', () => {
    const { card } = defineAgent({ ...NAMED, skills: [{ id: 'chat', description: 'C.' }], run: () => '' });
    expect(card.capabilities.extensions).toBeUndefined();
  });
});
