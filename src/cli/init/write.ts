import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../server/adapters/folders.ts';
import { CliError } from '../command.ts';

/** A folder that has only these counts as empty. */
const HARMLESS = new Set(['.git', '.DS_Store']);

/** Writes the files into a new or empty folder. Throws and writes nothing if the folder has other files. */
export function writeProject(folder: string, files: Readonly<Record<string, string>>): void {
  if (existsSync(folder)) {
    if (!statSync(folder).isDirectory()) throw new CliError(`${folder} is a file`, { hint: 'choose another name', exit: 2 });
    const there = readdirSync(folder).filter((name) => !HARMLESS.has(name));
    if (there.length > 0)
      throw new CliError(`${folder} is not empty: ${there.slice(0, 3).join(', ')}${there.length > 3 ? ', …' : ''}`, {
        hint: 'choose a new folder: parley init my-agent',
        exit: 2,
      });
  }
  try {
    for (const [path, content] of Object.entries(files)) {
      makeFolder(dirname(join(folder, path)), 0o777);
      writeFileSync(join(folder, path), content, { flag: 'wx' });
    }
  } catch (cause) {
    throw new CliError(`${folder} can't be written to: ${cause instanceof Error ? cause.message : String(cause)}`, {
      hint: 'choose another folder',
      cause,
    });
  }
}
