import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Json, Mutable, Part } from '#protocol';
import { CliError, readStdin, usage } from '../command.ts';
import type { Given } from '../flags/parse.ts';
import { mediaTypeOf } from './media-types.ts';

const FILE_BYTES_MAX = 64 * 1024 * 1024;
const EXAMPLE = 'example: parley send -a agents.example.org "Plan a 3-day trip"';

/** The parts of a message, in the order of the command line. A word without a flag is a text part. */
export async function partsFrom(given: readonly Given[]): Promise<readonly Part[]> {
  const parts: Mutable<Part>[] = [];
  let last: Mutable<Part> | undefined;
  for (const { flag, value } of given) {
    if (flag === undefined && value === '') throw usage('the text is empty', EXAMPLE);
    if (flag?.name === 'media-type') {
      if (last === undefined)
        throw usage('--media-type needs a part flag before it', 'example: parley send --file-part x.bin --media-type application/pdf');
      last.mediaType = value;
      last = undefined;
      continue;
    }
    const part = await partFor(flag?.name, value);
    if (part === undefined) continue;
    parts.push(part);
    last = flag === undefined ? undefined : part;
  }
  if (parts.length === 0) throw usage('there is nothing to send', EXAMPLE);
  for (const part of parts) infer(part);
  return parts;
}

/** The part that a flag or a word describes. Undefined for flags that describe none. */
async function partFor(name: string | undefined, value: string): Promise<Mutable<Part> | undefined> {
  switch (name) {
    case undefined:
    case 'text-part':
      return { text: value };
    case 'file-part':
      return filePart(value);
    case 'data-part':
      return { data: parsedJson(value === '-' ? await readStdin() : contentOf(value).toString('utf8'), value) };
    default:
      return undefined;
  }
}

/** A URL is sent as a reference. The agent fetches it, not this command. */
function filePart(value: string): Mutable<Part> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(value) && !value.startsWith('file:')) {
    const filename = URL.canParse(value) ? basename(new URL(value).pathname) : '';
    return filename === '' ? { url: value } : { url: value, filename };
  }
  const path = value.startsWith('file://') ? new URL(value).pathname : value;
  return { raw: contentOf(path).toString('base64'), filename: basename(path) };
}

/** Reads a file that is small enough to be sent inline. */
function contentOf(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size > FILE_BYTES_MAX)
      throw new CliError(`${path} has ${size} bytes; at most ${FILE_BYTES_MAX} are sent inline`, {
        hint: 'put it somewhere and send its URL',
        exit: 2,
      });
    return readFileSync(path);
  } catch (thrown) {
    if (thrown instanceof CliError) throw thrown;
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    throw new CliError(isMissing ? `there is no file ${path}` : `${path} can't be read: ${(thrown as Error).message}`, {
      hint: 'check the path; it is looked for from this folder on',
      exit: 2,
      cause: thrown,
    });
  }
}

/** Parses the JSON of a data part. */
function parsedJson(text: string, from: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new CliError(`${from === '-' ? 'standard input' : from} is not JSON: ${cause instanceof Error ? cause.message : ''}`, {
      hint: 'a data part is one JSON value',
      exit: 2,
      cause,
    });
  }
}

/** Used only without `--media-type`. */
function infer(part: Mutable<Part>): void {
  if (part.mediaType !== undefined || (part.raw === undefined && part.url === undefined)) return;
  const type = mediaTypeOf(part.filename ?? '');
  if (type !== undefined) part.mediaType = type;
}
