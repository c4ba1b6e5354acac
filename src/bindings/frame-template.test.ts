import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallContext, Dialect, Logged, TaskEvent } from '#protocol';
import {
  artifactId,
  contextId,
  createRegistry,
  DEFAULT_READ_LIMITS,
  DIALECTS,
  dialectId,
  LOCAL_PRINCIPAL,
  randomIds,
  seq,
  taskId,
} from '#protocol';
import { streamOf } from '../../test/support/streams.ts';
import { FrameTemplate } from './frame-template.ts';
import { IdleTimer } from './idle-timer.ts';
import { incomingEvents } from './incoming.ts';

const registry = createRegistry(DIALECTS);
const env = { ids: randomIds, limits: DEFAULT_READ_LIMITS };
const utf8 = new TextEncoder();
const ctx: CallContext = {
  principal: LOCAL_PRINCIPAL,
  dialect: dialectId('v10'),
  extensions: [],
  signal: new AbortController().signal,
};

function chunk(text: string, more: object = {}): TaskEvent {
  const artifact = { artifactId: artifactId('a'), parts: [{ text }] };
  return { artifactUpdate: { taskId: taskId('t'), contextId: contextId('c'), artifact, append: true, ...more } };
}

/** What a reader makes of frames that come in these pieces. */
async function read(datas: readonly string[], cuts: readonly number[], dialect: Dialect): Promise<readonly Logged[]> {
  const bytes = utf8.encode(datas.map((data, at) => `id: ${at + 1}\ndata: ${data}\n\n`).join(''));
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  const pieces = places.slice(1).map((end, at) => bytes.slice(places[at], end));
  const response = new Response(streamOf(...pieces), { headers: { 'Content-Type': 'text/event-stream' } });
  const unwrap = (frame: unknown): unknown => frame;
  const reader = dialect.openReader(env);
  const all: Logged[] = [];
  const timer = new IdleTimer({ signal: ctx.signal }, () => undefined);
  for await (const batch of incomingEvents({ response, timer }, { reader, unwrap, options: {}, ctx })) all.push(...batch);
  return all;
}

/** The same, each frame for itself. */
function alone(datas: readonly string[], dialect: Dialect): readonly Logged[] {
  return datas.flatMap((data, at) => {
    const each = dialect.openReader(env).read(JSON.parse(data));
    if (!each.ok) throw new Error('unreadable');
    return each.value.map((event) => ({ seq: seq(at + 1), event }));
  });
}

describe('frames that differ only in their text', () => {
  for (const id of ['v10', 'v03', 'v02.5']) {
    const dialect = registry.byId(id as never) as Dialect;
    it(`give the same events as reading each frame in full, in ${id}`, async () => {
      const words = fc.oneof(
        fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
        fc.constantFrom('a', 't', 'append', 'text', '"', '\\', '\n', '', '{"text":"x"}'),
      );
      const more = fc.constantFrom({}, {}, {}, {}, { lastChunk: true }, { metadata: { a: 'b' } }, { append: false });
      const event = fc.tuple(words, more).map(([text, members]) => chunk(text, members));
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 40 }), fc.array(fc.nat(4000), { maxLength: 10 }), async (events, cuts) => {
          const datas = events.map((each) => JSON.stringify(dialect.encode('event', each)));
          expect(await read(datas, cuts, dialect)).toEqual(alone(datas, dialect));
        }),
        { numRuns: 150 },
      );
    });
  }

  it('are read in full when the text is not a closed JSON string', async () => {
    const data = (words: string): string => JSON.stringify(chunk('WORDS')).replace('WORDS', words);
    const forged = [data('one'), data('two'), data('x"}]},"append":true,"lastChunk":true,"metadata":{"k":"v'), data('three')];
    const dialect = registry.byId('v10' as never) as Dialect;
    const parses = forged.filter((each) => {
      try {
        return JSON.parse(each) !== undefined;
      } catch {
        return false;
      }
    });
    expect(parses).toHaveLength(3);
    await expect(read(forged, [400, 600, 900], dialect)).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
    const split = [data('one'), data('two'), data('back\\'), data('a","b')];
    await expect(read(split, [400], dialect)).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
  });

  it('are learned only from a frame that appends plain text', () => {
    const template = new FrameTemplate();
    const readWhole = (data: string): TaskEvent => JSON.parse(data) as TaskEvent;
    const learn = (event: TaskEvent): void => template.learn(JSON.stringify(event), event, readWhole);
    for (const other of [chunk('x', { lastChunk: true }), chunk('x', { append: false }), chunk('')]) learn(other);
    expect(template.textJsonIn(JSON.stringify(chunk('y')))).toBeUndefined();
    learn(chunk('append')); // its last occurrence is a key
    expect(template.textJsonIn(JSON.stringify(chunk('y')))).toBeUndefined();
    learn(chunk('some words'));
    expect(template.textJsonIn(JSON.stringify(chunk('a "quote"')))).toBe('a \\"quote\\"');
    expect(template.event('y')).toEqual(chunk('y'));
  });
});
