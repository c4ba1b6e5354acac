import { readdir, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Gemini CLI keeps a session in a file named after the minute of its start, and begins a file of the same kind before it looks for the one
 * that it is to load. Within the same minute that is the same file, and the session is gone (0.61). So the file is given an earlier minute.
 */
export async function keepGeminiSession(id: string, now: Date = new Date(), home: string = homedir()): Promise<void> {
  const projects = join(home, '.gemini', 'tmp');
  for (const project of await readdir(projects).catch(() => [])) {
    const chats = join(projects, project, 'chats');
    const own = (await readdir(chats).catch(() => [])).filter(
      (name) => name.startsWith('session-') && name.includes(`-${id.slice(0, 8)}.`),
    );
    const [name = ''] = own;
    // With two of them the earlier one is the session; the other is what an earlier load has begun.
    if (own.length !== 1 || !name.startsWith(`session-${minute(now)}-`)) continue;
    await rename(join(chats, name), join(chats, name.replace(minute(now), minute(new Date(now.getTime() - 60_000)))));
  }
}

function minute(date: Date): string {
  return date.toISOString().slice(0, 16).replace(':', '-');
}
