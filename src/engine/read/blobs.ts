import type { Artifact, Part, TaskEvent } from '#protocol';
import { A2AError } from '#protocol';
import type { Blobs, LogEntry, TaskKey } from '../ports.ts';
import { contentLength } from '../tasks/events.ts';

/**
 * Large content is stored outside the log. The entry holds `blob:` and the SHA-256 of the content instead, and `spilled` lists the parts
 * to which that applies: text from an agent or a caller is never mistaken for a reference.
 */
const PREFIX = 'blob:';

export interface BlobParts {
  readonly blobs: Blobs | undefined;
}

/** Parts whose large content was moved to the blob store. */
export interface SpilledParts {
  readonly parts: readonly Part[];
  readonly spilled: readonly number[];
  /** Bytes in the blob store. */
  readonly bytes: number;
}

interface Spilling extends BlobParts {
  readonly limits: { readonly spillBytes: number };
}

/** Moves content above the limit to the blob store, where it is durable when this resolves. Undefined: nothing is that large. */
export function spillContent(from: Spilling, key: TaskKey, parts: readonly Part[]): Promise<SpilledParts> | undefined {
  const { blobs, limits } = from;
  if (blobs === undefined) return undefined;
  for (const part of parts) if (isLarge(part, limits.spillBytes)) return spillAll(from, key, parts);
  return undefined;
}

/** Half a surrogate pair has no UTF-8 form. Text with one stays in the log, where JSON escapes it. */
function isLarge(part: Part, spillBytes: number): boolean {
  return part.url === undefined && contentLength(part) > spillBytes && (part.text ?? part.raw ?? '').isWellFormed();
}

/** Moves large parts to the blob store. Returns the parts with references in their places. */
async function spillAll({ blobs, limits }: Spilling, key: TaskKey, parts: readonly Part[]): Promise<SpilledParts> {
  const kept: Part[] = [];
  const spilled: number[] = [];
  let bytes = 0;
  for (const [at, part] of parts.entries()) {
    if (blobs === undefined || !isLarge(part, limits.spillBytes)) {
      kept.push(part);
      continue;
    }
    const content = new TextEncoder().encode(part.text ?? part.raw ?? JSON.stringify(part.data));
    const name = await hashOf(content);
    await blobs.put(key, name, content);
    kept.push(withContent(part, `${PREFIX}${name}`));
    spilled.push(at);
    bytes += content.length;
  }
  return { parts: kept, spilled, bytes };
}

/** The names of the content that an entry has in the blob store. */
export function spilledNames({ event, spilled = [] }: LogEntry): readonly string[] {
  const parts = event.artifactUpdate?.artifact.parts ?? [];
  return spilled.flatMap((at) => {
    const part = parts[at];
    return part === undefined ? [] : [nameIn(part)];
  });
}

/** The entries with their content in place again. */
export function restoreContent(
  from: BlobParts,
  key: TaskKey,
  entries: readonly LogEntry[],
): readonly LogEntry[] | Promise<readonly LogEntry[]> {
  return restorePage(from, { key, entries, bytesMax: Number.POSITIVE_INFINITY });
}

export interface RestoredPage {
  readonly key: TaskKey;
  readonly entries: readonly LogEntry[];
  readonly bytesMax: number;
}

/** The same, or only the first entries, if these have more content than `bytesMax`. */
export function restorePage(from: BlobParts, page: RestoredPage): readonly LogEntry[] | Promise<readonly LogEntry[]> {
  for (const entry of page.entries) if (entry.spilled !== undefined) return restoredUpTo(from, page);
  return page.entries;
}

async function restoredUpTo(from: BlobParts, { key, entries, bytesMax }: RestoredPage): Promise<readonly LogEntry[]> {
  const out: LogEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const whole = await restored(from, key, entry);
    out.push(whole);
    if (entry.spilled !== undefined) bytes += spilledLength(whole);
    if (bytes > bytesMax) break;
  }
  return out;
}

function spilledLength({ event, spilled = [] }: LogEntry): number {
  const parts = event.artifactUpdate?.artifact.parts ?? [];
  return spilled.reduce((sum, at) => sum + (parts[at] === undefined ? 0 : contentLength(parts[at])), 0);
}

/** The entry with the content of its blobs. */
async function restored(from: BlobParts, key: TaskKey, entry: LogEntry): Promise<LogEntry> {
  const update = entry.event.artifactUpdate;
  if (entry.spilled === undefined || update === undefined) return entry;
  const parts = [...update.artifact.parts];
  for (const at of entry.spilled) {
    const part = parts[at];
    if (part !== undefined) parts[at] = await contentOf(from, key, part);
  }
  const artifact: Artifact = { ...update.artifact, parts };
  const event: TaskEvent = { artifactUpdate: { ...update, artifact } };
  return { ...entry, event };
}

/** Reads one blob and checks it against its hash. */
async function contentOf({ blobs }: BlobParts, key: TaskKey, part: Part): Promise<Part> {
  const name = nameIn(part);
  const content = await blobs?.get(key, name);
  // Checked against its hash: a shortened or changed artifact must not look like the real one.
  if (content === undefined || (await hashOf(content)) !== name) {
    throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`blob ${name} of task ${key} is missing or damaged`) });
  }
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  return part.data === undefined ? withContent(part, text) : { ...part, data: JSON.parse(text) };
}

function nameIn({ text, raw, data }: Part): string {
  const reference = text ?? raw ?? data;
  return typeof reference === 'string' ? reference.slice(PREFIX.length) : '';
}

function withContent(part: Part, content: string): Part {
  const { text, raw, data, ...rest } = part;
  if (text !== undefined) return { ...rest, text: content } as Part;
  return raw === undefined ? ({ ...rest, data: content } as Part) : ({ ...rest, raw: content } as Part);
}

async function hashOf(content: Uint8Array): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', content as Uint8Array<ArrayBuffer>));
  return Array.from(sum, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
