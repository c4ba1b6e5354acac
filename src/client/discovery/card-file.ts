import type { ErrorMaker } from '../errors/client-error.ts';
import type { ClientOptions } from '../options.ts';

/** Reads the JSON of a card file with the program's own `readFile`. */
export async function readCardFile(path: string, readFile: ClientOptions['readFile'], make: ErrorMaker): Promise<unknown> {
  if (readFile === undefined) {
    throw make('bad-target', `can’t connect to ${path}`, {
      why: 'it is a file, and the option readFile is missing',
      hint: "pass readFile from 'parley-a2a/client/files', or the card itself",
    });
  }
  try {
    return JSON.parse(await readFile(path));
  } catch (cause) {
    const isJson = cause instanceof SyntaxError;
    throw make(isJson ? 'card-invalid' : 'bad-target', `can’t read a card from ${path}`, {
      why: cause instanceof Error ? cause.message : String(cause),
      cause,
    });
  }
}
