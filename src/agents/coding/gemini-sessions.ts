import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * A line with a message. Before there is one, the file holds only the text that goes to every model.
 */
const MESSAGE = /^\{"id":/m;

/**
 * Repairs a session of Gemini CLI (0.61) after a run. It keeps a session in a file named after the
 * minute of its start, and creates a new file before it looks for the one to load. Within the same
 * minute that is the same file, and the session is lost. Later the empty file is left over, and the
 * next start deletes both. So empty files are removed, and the other one gets an earlier minute.
 */
export async function keepGeminiSession(id: string, now: Date = new Date(), home: string = homedir()): Promise<void> {
  const projects = join(home, '.gemini', 'tmp');
  for (const project of await readdir(projects).catch(() => [])) {
    const chats = join(projects, project, 'chats');
    const own = (await readdir(chats).catch(() => [])).filter(
      (name) => name.startsWith('session-') && name.includes(`-${id.slice(0, 8)}.`),
    );
    const texts = await Promise.all(own.map((name) => readFile(join(chats, name), 'utf8').catch(() => '')));
    const full = own.filter((_, at) => MESSAGE.test(texts[at] ?? ''));
    const [name = ''] = full;
    if (full.length !== 1) continue;
    for (const empty of own.filter((each) => each !== name)) await rm(join(chats, empty), { force: true });
    if (!name.startsWith(`session-${minute(now)}-`)) continue;
    await rename(join(chats, name), join(chats, name.replace(minute(now), minute(new Date(now.getTime() - 60_000)))));
  }
}

function minute(date: Date): string {
  return date.toISOString().slice(0, 16).replace(':', '-');
}
