import { describe, expect, it } from 'vitest';
import type { Part } from '#protocol';
import { ctx, request, taskOf, textOf, toTask, user, wordsOf, world } from '../../../test/support/engine.ts';
import { builtIn } from '../../../test/support/server.ts';
import type { MockOptions } from './mock.ts';
import { mockAgent } from './mock.ts';
import type { MockExchange } from './record.ts';
import { recording } from './record.ts';

async function mocked(responses: MockOptions['responses'], more: Partial<MockOptions> = {}) {
  const agent = mockAgent({ responses, ...more });
  const { service } = await world(agent);
  const send = async (text: string, skillId?: string) =>
    taskOf(await service.send({ message: user(text, skillId === undefined ? {} : { metadata: { skillId } }) }, ctx()));
  return { agent, service, send };
}

describe('a mock', () => {
  it('uses the first matching rule: skill, contains, regex, equals', async () => {
    const { send, agent } = await mocked([
      { skill: 'search', match: { contains: 'QUANTUM' }, text: 'by skill and words' },
      { match: { regex: '^order \\d+$' }, text: 'by regex' },
      { match: { equals: 'exactly' }, text: 'by equality' },
      { match: { contains: 'quantum' }, text: 'by words' },
    ]);
    const said = async (text: string, skill?: string) => textOf(await send(text, skill));
    expect(await said('a Quantum leap', 'search')).toBe('by skill and words');
    expect(await said('a quantum leap')).toBe('by words');
    expect(await said('order 66')).toBe('by regex');
    expect(await said('exactly')).toBe('by equality');
    expect(agent.calls.map(({ rule, skill }) => [rule, skill])).toEqual([
      [0, 'search'],
      [3, undefined],
      [1, undefined],
      [2, undefined],
    ]);
  });

  it('rejects a message without a matching rule', async () => {
    const { send } = await mocked([{ match: { contains: 'a' }, text: 'x' }]);
    const task = await send('nothing');
    expect([task.status.state, wordsOf(task)]).toEqual(['TASK_STATE_REJECTED', 'no matching rule']);
  });

  it('responds with parts, errors, questions and messages', async () => {
    const parts: readonly Part[] = [{ text: 'see' }, { data: { n: 1 } }, { raw: 'AA==', mediaType: 'image/png' }];
    const { send, service } = await mocked([
      { match: { equals: 'parts' }, response: { parts } },
      { match: { equals: 'error' }, error: 'broken' },
      { match: { equals: 'no' }, error: { message: 'never', state: 'rejected' } },
      { match: { equals: 'auth' }, error: { message: 'log in', state: 'auth-required' } },
      { match: { equals: 'ask' }, ask: 'which one?' },
      { match: { equals: 'this one' }, text: 'good choice' },
      { match: { equals: 'direct' }, message: 'hi' },
    ]);
    expect((await send('parts')).artifacts?.[0]?.parts).toEqual(parts);
    const ends = await Promise.all(['error', 'no', 'auth'].map(async (text) => (await send(text)).status.state));
    expect(ends).toEqual(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED']);
    const asked = await send('ask');
    expect(wordsOf(asked)).toBe('which one?');
    expect(textOf(taskOf(await service.send(toTask(asked, 'this one'), ctx())))).toBe('good choice');
    expect((await service.send(request('direct'), ctx())).message?.parts).toEqual([{ text: 'hi' }]);
  });

  it('streams chunks with pauses', async () => {
    const { send } = await mocked([{ latency: 60, delay: 30, stream: ['a', 'b', 'c'] }]);
    expect((await send('go')).artifacts?.[0]?.parts).toEqual([{ text: 'abc' }]);
  });

  it('uses a rule as often as its times say', async () => {
    const { send } = await mocked([{ times: 1, error: 'first time' }, { text: 'then' }]);
    expect((await send('x')).status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(await send('x'))).toBe('then');
  });

  it.each([
    [[{}], 'responses[0] has no answer; give one of response, text, stream, ask, message, error, replay'],
    [[{ text: 'a', error: 'b' }], 'responses[0] has text and error; give one'],
    [[{ text: 'a', match: { regex: '(' } }], 'responses[0] match.regex: Invalid regular expression: /(/: Unterminated group'],
  ])('reports an invalid rule: %j', (responses, words) => {
    expect(() => mockAgent({ responses })).toThrow(words);
  });

  it('lists the skills of its rules on its card', () => {
    const { card } = mockAgent({
      name: 'm',
      responses: [
        { skill: 'a', text: '' },
        { skill: 'b', text: '' },
      ],
    });
    expect([card.name, card.skills.map(({ id }) => id)]).toEqual(['m', ['a', 'b']]);
  });
});

describe('a recording', () => {
  it('plays the responses of a real agent in their order', async () => {
    const real = await world(builtIn('script'));
    const taken: MockExchange[] = [];
    const service = recording(real.service, (exchange) => taken.push(exchange));
    for await (const _ of service.stream(request('chunks=3'), ctx()));
    await service.send(request('message'), ctx());
    await service.send(request('fail'), ctx());
    const lines = taken.map((exchange) => JSON.stringify(exchange)).map((line) => JSON.parse(line) as MockExchange);
    const { send, service: mock } = await mocked(lines.map((replay) => ({ replay })));
    const streamed = await send('chunks=3');
    expect(streamed.artifacts?.[0]?.parts).toEqual([{ text: 'chunk 1chunk 2chunk 3' }]);
    const failed = await send('fail');
    expect([failed.status.state, wordsOf(failed)]).toEqual(['TASK_STATE_FAILED', 'The message asked me to fail.']);
    expect((await mock.send(request('message'), ctx())).message?.parts[0]?.text).toBe('The message asked for an answer without a task.');
    expect((await send('never heard')).status.state).toBe('TASK_STATE_REJECTED');
  });

  it('plays refused calls', async () => {
    const real = await world(builtIn('echo'));
    const taken: MockExchange[] = [];
    const service = recording(real.service, (exchange) => taken.push(exchange));
    const wrong = { message: user('x', { taskId: 'nope' as never }) };
    await expect(service.send(wrong, ctx())).rejects.toThrow();
    expect(taken).toMatchObject([{ events: [], error: { kind: 'TASK_NOT_FOUND' } }]);
  });
});
