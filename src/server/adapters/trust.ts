import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../config/read-value.ts';
import { authFolder, readSecretFile, writeSecretFile } from './secret-files.ts';

/**
 * Which files of agents' workspaces may be loaded. An agent that is served with a working folder can write files there, and code or
 * configuration that Parley loads from there runs without a sandbox. So a file in such a folder is loaded only with the content that it had
 * before an agent worked there, or that the user has accepted since (`parley trust`, or a question on a terminal).
 */
interface TrustRecord {
  /** Folders in which agents with commands have worked. */
  readonly workspaces: readonly string[];
  /** SHA-256 of accepted files, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Files that this process has loaded, from folders that were no workspaces then. */
const loaded = new Map<string, LoadedContent>();

/** A file with every file that it imports by a path. */
interface LoadedContent {
  readonly hash: string;
  /** Where the files and the links to them are. */
  readonly places: readonly string[];
}

/** Throws a ConfigError if an agent may have written the file. On a terminal it asks the user first. */
export async function checkTrusted(path: string, ask: (question: string) => Promise<boolean> = askOnTerminal): Promise<void> {
  const real = realpathSync(path);
  const content = contentOf(path);
  const { hash, places } = content;
  const { workspaces, files } = readRecord();
  const workspace = workspaces.find((folder) => places.some((place) => isInside(place, folder)));
  if (workspace === undefined) {
    loaded.set(real, content);
    return;
  }
  if (files[real] === hash) return;
  const what = files[real] === undefined ? 'is new' : 'has changed';
  const question = `${real} ${what}, and agents can write to ${workspace}. Its code or settings would run without a sandbox. Load it?`;
  if (await ask(question)) trustFile(real);
  else
    throw new ConfigError(
      `${real} ${what} since an agent was served in ${workspace}, which can write there. Read it, then type: parley trust ${real}`,
    );
}

/** Accepts the present content of a file. Returns its path. */
export function trustFile(path: string): string {
  const real = realpathSync(path);
  const { workspaces, files } = readRecord();
  writeRecord({ workspaces, files: { ...files, [real]: contentOf(real).hash } });
  return real;
}

/** Records that agents can write to these folders from now on. Files that this process has loaded from there before are accepted. */
export function noteWorkspaces(folders: readonly string[]): void {
  const known = readRecord();
  const fresh = folders.map((folder) => realpathSync(folder)).filter((folder) => !known.workspaces.includes(folder));
  if (fresh.length === 0) return;
  const accepted = [...loaded]
    .filter(([, { places }]) => fresh.some((folder) => places.some((place) => isInside(place, folder))))
    .map(([path, { hash }]) => [path, hash] as const);
  try {
    writeRecord({ workspaces: [...known.workspaces, ...new Set(fresh)], files: { ...known.files, ...Object.fromEntries(accepted) } });
  } catch {
    // A node on a read-only file system must start all the same. An agent can't cause this: it does not see the folder.
  }
}

export function trustRecord(): TrustRecord {
  return readRecord();
}

/** Not from the configuration: that is what is in question. */
function recordPath(): string {
  return join(authFolder(process.env['PARLEY_AUTH_FOLDER']), 'trusted.json');
}

function readRecord(): TrustRecord {
  const path = recordPath();
  const text = readSecretFile(path);
  if (text === undefined) return { workspaces: [], files: {} };
  try {
    const { workspaces, files } = JSON.parse(text) as Partial<TrustRecord>;
    return { workspaces: workspaces ?? [], files: files ?? {} };
  } catch {
    throw new ConfigError(`${path} is damaged; remove it, and Parley asks again`);
  }
}

function writeRecord(record: TrustRecord): void {
  writeSecretFile(recordPath(), `${JSON.stringify(record, null, 2)}\n`);
}

const IMPORT = /(?:\bfrom\s*|\bimport\s*(?:\(\s*)?|\brequire\s*\(\s*)(["'`])((?:\.{1,2}|file:\/\/)?\/[^"'`\n]+)\1/g;
const ENDINGS = ['', '.ts', '.mts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];
const FILES_MAX = 1000;

/** Of the file and of every file that it imports by a path. */
function contentOf(path: string): LoadedContent {
  const hash = createHash('sha256');
  const places = new Set(placesOf(path));
  const seen = new Set([realpathSync(path)]);
  for (const file of seen) {
    const text = readFileSync(file, 'utf8');
    hash.update(`${file}\0${text.length}\0${text}\0`);
    for (const [, , specifier = ''] of text.matchAll(IMPORT)) {
      const named = specifier.startsWith('file:') ? fileURLToPath(specifier) : specifier;
      const found = ENDINGS.map((ending) => resolve(dirname(file), `${named}${ending}`)).find(isFile);
      if (found === undefined || seen.size >= FILES_MAX) continue;
      for (const place of placesOf(found)) places.add(place);
      seen.add(realpathSync(found));
    }
  }
  return { hash: hash.digest('hex'), places: [...places] };
}

/** Where the path leads, and every link on the way: who can replace a link chooses the file. */
function placesOf(path: string): readonly string[] {
  const places = [resolve(path)];
  for (const place of places) {
    const real = join(realpathSync(dirname(place)), basename(place));
    if (!places.includes(real)) places.push(real);
    const target = lstatSync(real).isSymbolicLink() ? resolve(dirname(real), readlinkSync(real)) : real;
    if (!places.includes(target)) places.push(target);
  }
  return places;
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** False without a terminal: a script must use `parley trust`. */
async function askOnTerminal(question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
