import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { keepGeminiSession } from './gemini-sessions.ts';

const ID = '6ffed4a4-8e00-413d-82a4-9eb549093b35';
const NOW = new Date('2026-01-01T00:00:30Z');
const EMPTY = `{"sessionId":"${ID}"}\n{"$set":{"messages":[{"id":"d0","type":"user"}]}}\n`;
const FULL = `${EMPTY}{"id":"8e","type":"user","content":[{"text":"hi"}]}\n`;

it.each([
  ['of this minute', { 'session-2026-01-01T00-00-6ffed4a4.jsonl': FULL }, ['session-2025-12-31T23-59-6ffed4a4.jsonl']],
  ['of an earlier minute', { 'session-2025-12-31T23-58-6ffed4a4.jsonl': FULL }, ['session-2025-12-31T23-58-6ffed4a4.jsonl']],
  ['of another', { 'session-2026-01-01T00-00-11111111.jsonl': FULL }, ['session-2026-01-01T00-00-11111111.jsonl']],
  ['that is empty', { 'session-2026-01-01T00-00-6ffed4a4.jsonl': EMPTY }, ['session-2026-01-01T00-00-6ffed4a4.jsonl']],
  [
    'beside an empty one',
    { 'session-2025-12-31T23-59-6ffed4a4.jsonl': FULL, 'session-2026-01-01T00-00-6ffed4a4.jsonl': EMPTY },
    ['session-2025-12-31T23-59-6ffed4a4.jsonl'],
  ],
])('a session %s', async (_, files, after) => {
  const home = scratchFolder();
  const chats = join(home, '.gemini/tmp/project/chats');
  mkdirSync(chats, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(chats, name), text);
  await keepGeminiSession(ID, NOW, home);
  expect(readdirSync(chats)).toEqual(after);
});

it('works without any session', async () => {
  await expect(keepGeminiSession(ID, NOW, scratchFolder())).resolves.toBeUndefined();
});
