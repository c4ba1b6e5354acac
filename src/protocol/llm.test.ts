import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { part as anyPart } from '../../test/support/arbitraries.ts';
import type { LlmContent } from './llm.ts';
import { llmContentToParts, partsToLlmContent } from './llm.ts';
import type { Part } from './parts.ts';

const kindOf = (part: Part) => partsToLlmContent([part])[0]?.kind;
const typeOf = (part: Part) => partsToLlmContent([part])[0]?.mediaType;

describe('parts for a language model', () => {
  it('keep their order and become text, image, audio or file', () => {
    const parts: readonly Part[] = [
      { text: 'Look at this' },
      { raw: 'iVBORw0KGgo=', mediaType: 'image/png', filename: 'a.png' },
      { url: 'https://files.example/a.wav', mediaType: 'audio/wav' },
      { url: 'artifact://session/report.pdf', mediaType: 'application/pdf', filename: 'report.pdf' },
      { data: { order: [1, 2] } },
    ];
    const content: readonly LlmContent[] = [
      { kind: 'text', text: 'Look at this' },
      { kind: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'a.png' },
      { kind: 'audio', mediaType: 'audio/wav', url: 'https://files.example/a.wav' },
      { kind: 'file', mediaType: 'application/pdf', url: 'artifact://session/report.pdf', name: 'report.pdf' },
      { kind: 'text', text: '{"order":[1,2]}', mediaType: 'application/json' },
    ];
    expect(partsToLlmContent(parts)).toEqual(content);
    expect(llmContentToParts(content)).toEqual(parts);
  });

  it('are distinguished by media type, ignoring its case and parameters', () => {
    expect(kindOf({ raw: '', mediaType: 'IMAGE/PNG' })).toBe('image');
    expect(kindOf({ raw: '', mediaType: 'audio/ogg; codecs=opus' })).toBe('audio');
    expect(kindOf({ raw: '', mediaType: 'video/mp4' })).toBe('file');
    expect(kindOf({ raw: '', mediaType: 'imagery/png' })).toBe('file');
    expect(kindOf({ raw: 'e30=', mediaType: 'application/json' })).toBe('file');
  });

  it.each([
    [{ raw: '', filename: 'photo.JPG' }, 'image/jpeg', 'image'],
    [{ raw: '', filename: 'song.final.mp3' }, 'audio/mpeg', 'audio'],
    [{ raw: '', filename: 'report.pdf' }, 'application/pdf', 'file'],
    [{ url: 'https://files.example/a/b.png?size=2#top' }, 'image/png', 'image'],
    [{ url: 'https://files.example/a.png', filename: 'a.wav' }, 'audio/wav', 'audio'],
    [{ raw: '' }, 'application/octet-stream', 'file'],
    [{ raw: '', filename: 'png' }, 'application/octet-stream', 'file'],
    [{ raw: '', filename: 'a.xyz' }, 'application/octet-stream', 'file'],
    [{ raw: '', filename: 'a.png/b' }, 'application/octet-stream', 'file'],
    [{ url: 'https://host.md' }, 'application/octet-stream', 'file'],
    [{ url: 'not a url.png' }, 'application/octet-stream', 'file'],
  ] as const)('without one, %j is treated as %s', (part, mediaType, kind) => {
    expect(typeOf(part)).toBe(mediaType);
    expect(kindOf(part)).toBe(kind);
  });

  it('convert back unchanged, except for metadata, names of texts and data, and guessed media types', () => {
    fc.assert(
      fc.property(fc.array(anyPart, { maxLength: 5 }), (parts) => {
        const back = llmContentToParts(partsToLlmContent(parts));
        expect(back).toHaveLength(parts.length);
        parts.forEach((part, at) => {
          expect(back[at]).toEqual(asKept(part, back[at]));
        });
      }),
    );
  });
});

/** What is promised to survive. Text that says it is JSON comes back as the data it is, if it is. */
function asKept(part: Part, back: Part | undefined): Part {
  if (part.data !== undefined) return { data: part.data };
  if (part.text !== undefined) {
    const json = part.mediaType === 'application/json' ? parsed(part.text) : undefined;
    if (json !== undefined) return { data: json } as Part;
    return part.mediaType === undefined ? { text: part.text } : { text: part.text, mediaType: part.mediaType };
  }
  const { metadata: _, ...kept } = part;
  return (kept.mediaType === undefined ? { ...kept, mediaType: back?.mediaType } : kept) as Part;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe("a language model's content", () => {
  const media = fc.constantFrom(
    ['image', 'image/png'],
    ['audio', 'audio/wav'],
    ['file', 'application/pdf'],
    ['file', 'application/octet-stream'],
  );
  const content = fc.oneof(
    fc.record({ kind: fc.constant('text'), text: fc.string() }),
    fc.record({ kind: fc.constant('text'), text: fc.string(), mediaType: fc.constantFrom('text/markdown', 'text/plain') }),
    fc.record({
      kind: fc.constant('text'),
      text: fc.json().map((text) => JSON.stringify(JSON.parse(text))),
      mediaType: fc.constant('application/json'),
    }),
    fc
      .tuple(media, fc.constantFrom({ data: 'AAAA' }, { url: 'https://x.example/a' }), fc.constantFrom({}, { name: 'n.bin' }))
      .map(([[kind, mediaType], where, name]) => ({ kind, mediaType, ...where, ...name })),
  ) as fc.Arbitrary<LlmContent>;

  it('converts back unchanged', () => {
    fc.assert(
      fc.property(fc.array(content, { maxLength: 5 }), (items) => {
        expect(partsToLlmContent(llmContentToParts(items))).toEqual(items);
      }),
    );
  });

  it('stays text if it is labelled JSON and does not parse', () => {
    const broken: LlmContent = { kind: 'text', text: '{"a":', mediaType: 'application/json' };
    expect(llmContentToParts([broken])).toEqual([{ text: '{"a":', mediaType: 'application/json' }]);
  });

  it('becomes data if it is JSON, even with parameters or if it is null', () => {
    expect(llmContentToParts([{ kind: 'text', text: 'null', mediaType: 'Application/JSON; charset=utf-8' }])).toEqual([{ data: null }]);
  });
});
