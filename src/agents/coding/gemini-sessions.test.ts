import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { keepGeminiSession } from './gemini-sessions.ts';

const ID = '6ffed4a4-8e00-413d-82a4-9eb549093b35';
const NOW = new Date('2026-01-01T00:00:30Z');

function chatsWith(...names: readonly string[]): { readonly home: string; readonly chats: string } {
  const home = scratchFolder();
  const chats = join(home, '.gemini/tmp/project/chats');
  mkdirSync(chats, { recursive: true });
  for (const name of names) writeFileSync(join(chats, name), '');
  return { home, chats };
}

it.each([
  [['session-2026-01-01T00-00-6ffed4a4.jsonl'], ['session-2025-12-31T23-59-6ffed4a4.jsonl']],
  [['session-2025-12-31T23-58-6ffed4a4.jsonl'], ['session-2025-12-31T23-58-6ffed4a4.jsonl']],
  [['session-2026-01-01T00-00-11111111.jsonl'], ['session-2026-01-01T00-00-11111111.jsonl']],
  [
    ['session-2025-12-31T23-59-6ffed4a4.jsonl', 'session-2026-01-01T00-00-6ffed4a4.jsonl'],
    ['session-2025-12-31T23-59-6ffed4a4.jsonl', 'session-2026-01-01T00-00-6ffed4a4.jsonl'],
  ],
])('a session of this minute gets an earlier one, and nothing else does: %j', async (before, after) => {
  const { home, chats } = chatsWith(...before);
  await keepGeminiSession(ID, NOW, home);
  expect(readdirSync(chats).sort()).toEqual(after);
});

it('there need be none', async () => {
  await expect(keepGeminiSession(ID, NOW, scratchFolder())).resolves.toBeUndefined();
});
