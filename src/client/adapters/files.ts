import { readFile as read } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Reads a card file, for `ClientOptions.readFile`: `A2AClient.connect('./card.json', { readFile })`. */
export async function readFile(path: string): Promise<string> {
  return await read(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path, 'utf8');
}
