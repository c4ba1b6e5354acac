import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Artifact, Fetch, Part, Task, TaskId } from '#protocol';
import { base64ToBytes } from '#protocol';
import { endingOf } from '../calls/media-types.ts';
import { printJson } from '../calls/results.ts';
import type { Session } from '../calls/session.ts';
import { contractCommand } from '../calls/session.ts';
import type { Command } from '../command.ts';
import { CliError } from '../command.ts';
import { GLOBALS } from '../flags/globals.ts';
import { switchOf, textOf } from '../flags/parse.ts';
import { field, idsText } from '../print/labels.ts';
import { connect, wiresFor } from '../wire/connect.ts';
import { reasonOf } from '../wire/debug.ts';
import { EXITS } from './exits.ts';

export const downloadCommand: Command = contractCommand(
  {
    name: 'task download',
    summary: 'write what a task made to files.',
    args: [{ name: 'TASK' }],
    flags: [
      { name: 'dir', short: 'd', aliases: ['save-fileparts'], kind: 'text', value: 'DIR', default: '.', doc: 'Where to.' },
      { name: 'artifact', kind: 'list', value: 'NAME', doc: 'Only these, by name or id.' },
      { name: 'fetch', kind: 'switch', doc: 'Fetch files that are given as a URL too. Nothing of yours is sent there.' },
      { name: 'force', kind: 'switch', doc: 'Overwrite files that are there.' },
    ],
    globals: GLOBALS,
    details: 'Every part becomes a file: text .txt or .md, data .json, files under their own names. With -o json it prints the list of what was written.',
    examples: ['parley task download -a agents.example.org 5d1c0c9e --dir out'],
    exits: EXITS,
  },
  async (session) => {
    const connection = await connect(session);
    const task = await connection.call(() => connection.service.get({ id: (session.words[0] ?? '') as TaskId }, connection.ctx()), { continued: true });
    const files = await writeParts(session, task);
    if (session.json) printJson(session, { taskId: task.id, contextId: task.contextId ?? '', files: files.map((file) => ({ ...file })) });
    else session.out(idsText(task) + files.map(({ path, mediaType, bytes }) => field('File', `${path} (${mediaType}, ${bytes} bytes)`)).join(''));
    if (files.length === 0) session.note('warning: the task has made nothing that could be written\n');
    return 0;
  },
);

interface Written {
  readonly path: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly artifact: string;
}

async function writeParts(session: Session, task: Task): Promise<readonly Written[]> {
  const wanted = session.parsed.given.filter(({ flag }) => flag?.name === 'artifact').map(({ value }) => value);
  const artifacts = (task.artifacts ?? []).filter(
    ({ name, artifactId }) => wanted.length === 0 || wanted.includes(artifactId) || (name !== undefined && wanted.includes(name)),
  );
  const folder = textOf(session.parsed, 'dir') ?? '.';
  const { bareFetch } = await wiresFor(session);
  const taken = new Set<string>();
  const written: Written[] = [];
  mkdirSync(folder, { recursive: true });
  for (const artifact of artifacts) {
    for (const [part, at] of pieces(artifact)) {
      const bytes = await bytesOf(part, { session, fetch: bareFetch });
      if (bytes === undefined) continue;
      const path = join(folder, unique(fileName(artifact, part, at), taken));
      write(path, bytes, switchOf(session.parsed, 'force'));
      written.push({ path, mediaType: part.mediaType ?? typeOf(part), bytes: bytes.length, artifact: artifact.artifactId });
    }
  }
  return written;
}

/** Chunks of one text are one text. */
function pieces({ parts }: Artifact): readonly (readonly [Part, number])[] {
  const out: Part[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    const joins = last?.text !== undefined && part.text !== undefined && part.filename === undefined && last.mediaType === part.mediaType;
    if (joins) out.splice(-1, 1, { ...last, text: last.text + part.text });
    else out.push(part);
  }
  return out.map((part, at) => [part, at]);
}

async function bytesOf(part: Part, { session, fetch }: { readonly session: Session; readonly fetch: Fetch }): Promise<Uint8Array | undefined> {
  if (part.text !== undefined) return new TextEncoder().encode(part.text);
  if (part.data !== undefined) return new TextEncoder().encode(`${JSON.stringify(part.data, null, 2)}\n`);
  if (part.raw !== undefined) return base64ToBytes(part.raw);
  if (!switchOf(session.parsed, 'fetch')) {
    session.note(`warning: ${part.url} is only referred to; --fetch fetches it\n`);
    return undefined;
  }
  try {
    const response = await fetch(new Request(part.url, { signal: session.signal }));
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    session.note(`warning: ${part.url} answers with HTTP ${response.status}\n`);
  } catch (thrown) {
    session.note(`warning: ${part.url} could not be fetched: ${reasonOf(thrown)}\n`);
  }
  return undefined;
}

function typeOf(part: Part): string {
  return part.text !== undefined ? 'text/plain' : part.data !== undefined ? 'application/json' : 'application/octet-stream';
}

/** The agent's own name for it, without any folder: it decides what a file is called, never where it lies. */
function fileName(artifact: Artifact, part: Part, at: number): string {
  const given = part.filename ?? (part.url !== undefined && URL.canParse(part.url) ? basename(new URL(part.url).pathname) : undefined);
  const plain = safe(given ?? '');
  if (plain !== '') return plain;
  const base = safe(artifact.name ?? '') || safe(artifact.artifactId) || 'artifact';
  const ending = endingOf(part.mediaType ?? typeOf(part));
  return `${base}${at === 0 ? '' : `-${at + 1}`}${base.endsWith(`.${ending}`) ? '' : `.${ending}`}`;
}

function safe(name: string): string {
  return basename(name.replaceAll('\\', '/'))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no file is called so
    .replaceAll(/[\u0000-\u001f\u007f<>:"|?*]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 200);
}

function unique(name: string, taken: Set<string>): string {
  let out = name;
  for (let count = 2; taken.has(out); count += 1) out = name.replace(/(\.[^.]*)?$/, ` (${count})$1`);
  taken.add(out);
  return out;
}

function write(path: string, bytes: Uint8Array, overwrite: boolean): void {
  try {
    writeFileSync(path, bytes, { flag: overwrite ? 'w' : 'wx' });
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    throw new CliError(exists ? `${path} is there already` : `${path} can't be written`, {
      hint: exists ? 'overwrite it with --force, or choose another folder with --dir' : 'choose another folder with --dir',
      cause,
    });
  }
}
