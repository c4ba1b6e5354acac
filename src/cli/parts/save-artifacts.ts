import { statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Artifact, Fetch, Part } from '#protocol';
import { base64ToBytes, kept } from '#protocol';
import { makeFolder } from '../../server/adapters/folders.ts';
import { reasonOf } from '../agent/debug.ts';
import { CliError } from '../command.ts';
import { endingOf } from './media-types.ts';

/** A file that was written. */
export interface Written {
  readonly path: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly artifact: string;
}

/** Where and how artifacts are saved. */
export interface Saving {
  readonly folder: string;
  readonly overwrite: boolean;
  /** Fetches files that are given by URL. Credentials are not sent there. */
  readonly fetch?: Fetch | undefined;
  /** Save only files, not text that was already shown. */
  readonly filesOnly?: boolean;
  readonly signal: AbortSignal;
  readonly warn: (text: string) => void;
}

/** Writes every part to a file. */
export async function saveArtifacts(artifacts: readonly Artifact[], saving: Saving): Promise<readonly Written[]> {
  const taken = new Set<string>();
  const written: Written[] = [];
  for (const artifact of artifacts) {
    for (const [at, part] of pieces(artifact).entries()) {
      if (saving.filesOnly === true && (part.text !== undefined || part.data !== undefined) && part.filename === undefined) continue;
      const bytes = await bytesOf(part, saving);
      if (bytes === undefined) continue;
      const path = join(saving.folder, unique(fileName(artifact, part, at), taken));
      write(path, bytes, saving);
      written.push({ path, mediaType: part.mediaType ?? typeOf(part), bytes: bytes.length, artifact: artifact.artifactId });
    }
  }
  return written;
}

/** The chunks of a text form one file. */
function pieces({ parts }: Artifact): readonly Part[] {
  const out: Part[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    const joins = last?.text !== undefined && part.text !== undefined && part.filename === undefined && last.mediaType === part.mediaType;
    if (joins) out.splice(-1, 1, { ...last, text: last.text + part.text });
    else out.push(part);
  }
  return out;
}

/** The content of a part. Links are downloaded only with `--fetch`. */
async function bytesOf(part: Part, { fetch, signal, warn }: Saving): Promise<Uint8Array | undefined> {
  if (part.text !== undefined) return new TextEncoder().encode(part.text);
  if (part.data !== undefined) return new TextEncoder().encode(`${JSON.stringify(part.data, null, 2)}\n`);
  if (part.raw !== undefined) return base64ToBytes(part.raw);
  if (fetch === undefined) {
    warn(`${part.url} is a link; add --fetch to download it`);
    return undefined;
  }
  try {
    const response = await fetch(kept(new Request(part.url, { signal })));
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    warn(`${part.url} answers with HTTP ${response.status}`);
  } catch (thrown) {
    warn(`${part.url} could not be fetched: ${reasonOf(thrown)}`);
  }
  return undefined;
}

function typeOf(part: Part): string {
  if (part.text !== undefined) return 'text/plain';
  return part.data !== undefined ? 'application/json' : 'application/octet-stream';
}

/** The agent's name for the file, without folders: the agent never decides where a file is written. */
function fileName(artifact: Artifact, part: Part, at: number): string {
  const given = part.filename ?? (part.url !== undefined && URL.canParse(part.url) ? new URL(part.url).pathname : undefined);
  const plain = safe(given ?? '');
  if (plain !== '') return plain;
  const base = safe(artifact.name ?? '') || safe(artifact.artifactId) || 'artifact';
  const ending = endingOf(part.mediaType ?? typeOf(part));
  return `${base}${at === 0 ? '' : `-${at + 1}`}${base.endsWith(`.${ending}`) ? '' : `.${ending}`}`;
}

function safe(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no file is called so
  const printable = basename(name.replaceAll('\\', '/')).replaceAll(/[\u0000-\u001f\u007f<>:"|?*]/g, '_');
  return printable.replace(/^\.+/, '').slice(0, 200);
}

/** A name that no other saved file has: `a.txt`, `a (2).txt`. */
function unique(name: string, taken: Set<string>): string {
  let out = name;
  for (let count = 2; taken.has(out); count += 1) out = name.replace(/(\.[^.]*)?$/, ` (${count})$1`);
  taken.add(out);
  return out;
}

/** Writes a file. Never overwrites one without `--force`. */
function write(path: string, bytes: Uint8Array, { overwrite, folder }: Saving): void {
  try {
    makeFolder(folder, 0o777);
    writeFileSync(path, bytes, { flag: overwrite ? 'w' : 'wx' });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isFolder && (code === 'EEXIST' || code === 'ENOTDIR')) {
      const what = code === 'EEXIST' ? 'is a file, and a folder is wanted' : 'can’t be a folder: something on its path is a file';
      throw new CliError(`${folder} ${what}`, { hint: 'name a folder; one that is not there is made', cause });
    }
    const exists = code === 'EEXIST';
    throw new CliError(exists ? `${path} is there already` : `${path} can't be written`, {
      hint: exists ? 'overwrite it with --force, or choose another folder' : 'choose another folder',
      cause,
    });
  }
}
