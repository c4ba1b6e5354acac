import { describe, expect, it } from 'vitest';
import type { AgentCard, AgentOutput, Part } from '#protocol';
import { agent, CARD, collect, ctx, echo, request, said, shortly, taskOf, user, wordsOf, world } from '../../../test/support/engine.ts';
import { fitParts, modesOf } from './modes.ts';

const taking = (input: readonly string[], more: Partial<AgentCard> = {}) =>
  agent(echo.run, { card: { ...CARD, defaultInputModes: input, ...more } });
const skill = (id: string, modes: object) => ({ id, name: id, description: '', tags: [], ...modes });

describe('the media types that an agent accepts', () => {
  const text: Part = { text: 'a' };
  const cases: readonly (readonly [string, readonly string[], Part, boolean])[] = [
    ['nothing said, nothing refused', [], { raw: 'AA==', mediaType: 'image/png' }, true],
    ['text as plain text', ['text/plain'], text, true],
    ['text as some kind of text', ['text/markdown'], text, true],
    ['text, but only JSON is taken', ['application/json'], text, false],
    ['text of a kind that is not taken', ['text/plain'], { text: 'a', mediaType: 'text/html' }, false],
    ['text with parameters and capitals', ['text/plain'], { text: 'a', mediaType: 'Text/Plain; charset=utf-8' }, true],
    ['a wildcard', ['image/*'], { raw: 'AA==', mediaType: 'image/png' }, true],
    ['a wildcard of another kind', ['image/*'], { raw: 'AA==', mediaType: 'audio/wav' }, false],
    ['a file of any image type, where one is taken', ['image/png'], { raw: 'AA==', mediaType: 'image/*' }, true],
    ['a file of any image type, where none is taken', ['audio/wav'], { raw: 'AA==', mediaType: 'image/*' }, false],
    ['everything', ['*/*'], { url: 'https://e.org/x', mediaType: 'x/y' }, true],
    ['data as JSON', ['application/json'], { data: {} }, true],
    ['data as a kind of JSON', ['application/vnd.x+json'], { data: {} }, true],
    ['data, but only text is taken', ['text/plain'], { data: {} }, false],
    ['data of a declared type', ['text/plain', 'application/json'], { data: {}, mediaType: 'application/x-unsupported-type-12345' }, false],
    ['a file of unknown type, where only text and JSON are taken', ['text/plain', 'application/json'], { url: 'https://e.org/x' }, false],
    ['a file of unknown type, where files are taken', ['text/plain', 'image/png'], { raw: 'AA==' }, true],
    ['an empty type, which is none', ['text/plain'], { text: 'a', mediaType: '' }, true],
    ['old words for types', ['text', 'file'], { raw: 'AA==', mediaType: 'image/png' }, true],
    ['the old word for text, and JSON', ['text'], { data: 1 }, false],
  ];
  for (const [what, modes, part, isTaken] of cases) {
    it(`${isTaken ? 'takes' : 'refuses'}: ${what}`, () => expect(modesOf(modes).takes(part)).toBe(isTaken));
  }

  it('are checked against the agent and every skill, before a task is made', async () => {
    const { service, engine } = await world(
      taking(['text/plain'], { skills: [skill('a', { inputModes: ['image/png'] }), skill('b', {})] }),
    );
    const send = (part: Part) => service.send({ message: user('', { parts: [{ text: 'look' }, part] }) }, ctx());
    await send({ raw: 'AA==', mediaType: 'image/png' });
    await expect(send({ raw: 'AA==', mediaType: 'image/gif' })).rejects.toMatchObject({
      kind: 'CONTENT_TYPE_NOT_SUPPORTED',
      message: 'this agent does not accept image/gif; it accepts text/plain, image/png',
      details: { field: 'message.parts[1]' },
    });
    expect((await engine.admin.tasks({})).totalSize).toBe(1);
  });
});

describe('an agent that checks input modes itself', () => {
  it('is sent every part', async () => {
    const { service } = await world(agent(echo.run, { card: { ...CARD, defaultInputModes: ['text/plain'] }, checksInputModes: true }));
    const sent = { message: user('', { parts: [{ data: { a: 1 } }] }) };
    expect(taskOf(await service.send(sent, ctx())).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('the media types that a caller accepts', () => {
  it('is refused if it names no media type', async () => {
    const { service } = await world(agent(echo.run));
    const nonsense = { ...request('go'), configuration: { acceptedOutputModes: ['nonsense'] } };
    await expect(service.send(nonsense, ctx())).rejects.toMatchObject({ kind: 'CONTENT_TYPE_NOT_SUPPORTED' });
  });

  const fits = (part: Part, accepted: readonly string[]) => fitParts([part], modesOf(accepted));
  const cases: readonly (readonly [string, Part, readonly string[], Part | undefined])[] = [
    ['as it is', { text: 'a', mediaType: 'text/markdown' }, ['text/markdown'], { text: 'a', mediaType: 'text/markdown' }],
    ['any text as plain text', { text: '# a', mediaType: 'text/markdown' }, ['text/plain'], { text: '# a' }],
    ['plain text as another kind of text, undeclared', { text: 'a' }, ['text/markdown'], { text: 'a' }],
    [
      'plain text as another kind of text, declared',
      { text: 'a', mediaType: 'text/plain' },
      ['text/markdown'],
      { text: 'a', mediaType: 'text/markdown' },
    ],
    ['data as text', { data: { a: 1 }, metadata: { m: 1 } }, ['text/plain'], { text: '{"a":1}', metadata: { m: 1 } }],
    ['data as text, by its old word', { data: [1] }, ['text'], { text: '[1]' }],
    ['text as data, if it is JSON', { text: '{"a":1}' }, ['application/json'], { data: { a: 1 } }],
    ['text as data, a string if it is not', { text: 'hello' }, ['application/json'], { data: 'hello' }],
    ['null as data', { text: 'null' }, ['application/json'], { data: null }],
    ['data of its own type as JSON', { data: 1, mediaType: 'application/x' }, ['application/json'], { data: 1 }],
    [
      'a text file as text',
      { raw: 'aMOpIQ==', mediaType: 'text/csv', filename: 'a.csv' },
      ['text/plain'],
      { text: 'hé!', filename: 'a.csv' },
    ],
    [
      'a JSON file as data',
      { raw: 'eyJhIjoxfQ==', mediaType: 'application/json' },
      ['application/x', 'application/json'],
      { raw: 'eyJhIjoxfQ==', mediaType: 'application/json' },
    ],
    ['a text file that is none', { raw: '//8=', mediaType: 'text/csv' }, ['text/plain'], undefined],
    ['a picture', { raw: 'AA==', mediaType: 'image/png' }, ['text/plain'], undefined],
    ['a link', { url: 'https://e.org/a.txt', mediaType: 'text/csv' }, ['text/plain'], undefined],
    ['text, where only pictures are accepted', { text: 'a' }, ['image/png'], undefined],
  ];
  for (const [what, part, accepted, result] of cases) {
    it(`gets ${what}`, () => {
      const { parts, leftOut } = fits(part, accepted);
      expect(parts).toEqual(result === undefined ? [] : [result]);
      expect(leftOut).toHaveLength(result === undefined ? 1 : 0);
    });
  }

  const making = (...outputs: readonly AgentOutput[]) =>
    agent(
      async function* () {
        yield* outputs;
      },
      { card: { ...CARD, defaultOutputModes: ['image/png', 'application/json'] } },
    );
  const accepting = (...acceptedOutputModes: readonly string[]) => request('go', { configuration: { acceptedOutputModes } });

  it('are converted to, chunk by chunk', async () => {
    const { service } = await world(making({ kind: 'data', data: { a: 1 } }, { kind: 'text', text: 'b' }));
    const task = taskOf(await service.send(accepting('text/plain'), ctx()));
    expect(task.artifacts?.map(({ parts }) => parts[0])).toEqual([{ text: '{"a":1}' }, { text: 'b' }]);
  });

  it('leave out what can’t be converted, with a status message', async () => {
    const both: AgentOutput = {
      kind: 'artifact',
      id: 'x',
      name: 'Picture',
      parts: [{ text: 'caption' }, { raw: 'AA==', mediaType: 'image/png' }],
    };
    const only: AgentOutput = { kind: 'artifact', id: 'y', parts: [{ raw: 'AA==', mediaType: 'image/png' }] };
    const { service } = await world(making(both, only));
    const events = await collect(service.stream(accepting('text/plain'), ctx()));
    expect(shortly(events)).toEqual(['task WORKING', 'artifact x', 'WORKING', 'WORKING', 'COMPLETED']);
    const task = await service.get({ id: events[0]?.event.task?.id as never }, ctx());
    expect(task.artifacts).toEqual([{ artifactId: 'x', name: 'Picture', parts: [{ text: 'caption' }] }]);
    expect(task.history?.slice(1).map(({ parts }) => parts[0]?.text)).toEqual([
      'Left out of Picture: image/png. The caller accepts text/plain.',
      'Left out of y: image/png. The caller accepts text/plain.',
    ]);
  });

  it('apply to a direct message too, which names what is missing', async () => {
    const { service } = await world(
      making({ kind: 'message', message: { ...said('a'), parts: [{ data: 1 }, { raw: 'AA==', mediaType: 'image/png' }] } }),
    );
    const { message } = await service.send(accepting('text/plain'), ctx());
    expect(message?.parts).toEqual([{ text: '1' }, { text: 'Left out: image/png.' }]);
  });

  it('fail the send if the agent produces none of them', async () => {
    const { service } = await world(
      agent(echo.run, { card: { ...CARD, defaultOutputModes: ['image/png'], skills: [skill('s', { outputModes: ['audio/wav'] })] } }),
    );
    await expect(service.send(accepting('text/plain'), ctx())).rejects.toMatchObject({
      kind: 'CONTENT_TYPE_NOT_SUPPORTED',
      message: "this agent produces image/png, audio/wav, which can't be converted to text/plain",
    });
    expect(taskOf(await service.send(accepting('audio/*'), ctx())).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await service.list({}, ctx())).totalSize).toBe(1);
  });

  it('reach the agent, and are stored for the turn', async () => {
    const seen: (readonly string[])[] = [];
    const { service } = await world(async function* ({ acceptedOutputModes }) {
      seen.push(acceptedOutputModes);
      yield { kind: 'complete', message: said('ok') };
    });
    expect(wordsOf(taskOf(await service.send(accepting('text/html', 'text/plain'), ctx())))).toBe('ok');
    await service.send(request('go'), ctx());
    expect(seen).toEqual([['text/html', 'text/plain'], []]);
  });
});
