import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getBytesFromFilePart } from '#protocol';
import { scratchFolder } from '../../test/support/scratch.ts';
import { talkTo } from '../../test/support/talk.ts';
import { fakeTurn, outputs } from '../../test/support/turns.ts';
import { createDemo } from './built-in/demo.ts';
import { defineAgent } from './define.ts';
import { file } from './file.ts';

const folder = scratchFolder();

it('makes a part of bytes, of a link and of a file, with its name and type', async () => {
  expect(file({ name: 'a.md', bytes: new TextEncoder().encode('# A') })).toEqual({
    raw: 'IyBB',
    filename: 'a.md',
    mediaType: 'text/markdown',
  });
  expect(file({ url: 'https://x.example/b/film.mp3?x=1' })).toEqual({
    url: 'https://x.example/b/film.mp3?x=1',
    filename: 'film.mp3',
    mediaType: 'audio/mpeg',
  });
  const path = join(folder, 'c.txt');
  writeFileSync(path, 'hello');
  expect(await file({ path, mediaType: 'text/x-greeting' })).toEqual({ raw: 'aGVsbG8=', filename: 'c.txt', mediaType: 'text/x-greeting' });
});

it('an agent that reads turn.files takes them without declaring media types, and yields a file', async () => {
  const agent = defineAgent({
    name: 'copier',
    description: 'Copies.',
    run: async function* (turn) {
      for (const given of turn.files)
        yield file({ name: `copy of ${given.filename}`, bytes: getBytesFromFilePart(given) ?? new Uint8Array() });
    },
  });
  expect(agent.card.defaultInputModes).toContain('*/*'); // clients look here before they send a file
  const { task } = await talkTo(agent);
  const { artifacts } = await task([{ raw: 'aGk=', mediaType: 'application/x-anything', filename: 'x' }]);
  expect(artifacts?.[0]?.parts).toEqual([{ raw: 'aGk=', filename: 'copy of x' }]);
  const strict = defineAgent({ name: 'strict', description: 'Text only.', inputModes: ['text/plain'], run: () => 'ok' });
  const refusing = await talkTo(strict);
  await expect(refusing.task([{ raw: 'aGk=', mediaType: 'image/png' }])).rejects.toMatchObject({ kind: 'CONTENT_TYPE_NOT_SUPPORTED' });
});

it.each([
  ['PNG', 'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYa', 'a PNG picture of 3 × 2 pixels, wider than high'],
  ['GIF', 'R0lGODlhBAAEAIAAAP///wAAACw=', 'a GIF picture of 4 × 4 pixels, a square'],
  ['JPEG', '/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAAFAAIDASIAAhEBAxEB/9k=', 'a JPEG picture of 2 × 5 pixels, higher than wide'],
  ['text', 'aGVsbG8=', 'p.png (image/png) has 5 bytes'],
])('the demo agent says something about a %s', async (_, raw, said) => {
  const turn = fakeTurn([{ text: 'look' }, { raw, mediaType: 'image/png', filename: 'p.png' }], { opened: { messages: 0 } });
  const texts = (await outputs(createDemo({ wordMs: 0 }), turn)).map((output) => (output.kind === 'text' ? output.text : ''));
  expect(texts.join('')).toContain(said);
});
