import type { Artifact, Part, TaskEvent } from '#protocol';
import { A2AError } from '#protocol';
import type { Entry, TaskKey } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { contentLength } from '../tasks/core.ts';

/**
 * Large content lives beside the log: in the entry stands `blob:` and the SHA-256 of the content in its place, and `spilled`
 * says which parts these are, so that nothing an agent or a caller writes is ever mistaken for one.
 */
const PREFIX = 'blob:';

export interface Spilled {
  readonly parts: readonly Part[];
  readonly spilled: readonly number[];
  /** What went to the blob port. */
  readonly bytes: number;
}

/** Content above the limit goes to the blob port, and is durable there when this returns. Undefined: there was none. */
export function spill(core: Core, key: TaskKey, parts: readonly Part[]): Promise<Spilled> | undefined {
  const { blobs, limits } = core;
  if (blobs === undefined) return undefined;
  for (const part of parts) if (isLarge(part, limits.spillBytes)) return spillAll(core, key, parts);
  return undefined;
}

/** Half a surrogate pair has no bytes in UTF-8: text with one stays in the log, where JSON spells it out. */
function isLarge(part: Part, spillBytes: number): boolean {
  return part.url === undefined && contentLength(part) > spillBytes && (part.text ?? part.raw ?? '').isWellFormed();
}

async function spillAll({ blobs, limits }: Core, key: TaskKey, parts: readonly Part[]): Promise<Spilled> {
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

/** Entries with their content back in place. */
export function unspill(core: Core, key: TaskKey, entries: readonly Entry[]): readonly Entry[] | Promise<readonly Entry[]> {
  for (const entry of entries) {
    if (entry.spilled !== undefined) return Promise.all(entries.map((each) => restored(core, key, each)));
  }
  return entries;
}

async function restored(core: Core, key: TaskKey, entry: Entry): Promise<Entry> {
  const update = entry.event.artifactUpdate;
  if (entry.spilled === undefined || update === undefined) return entry;
  const parts = [...update.artifact.parts];
  for (const at of entry.spilled) {
    const part = parts[at];
    if (part !== undefined) parts[at] = await contentOf(core, key, part);
  }
  const artifact: Artifact = { ...update.artifact, parts };
  const event: TaskEvent = { artifactUpdate: { ...update, artifact } };
  return { ...entry, event };
}

async function contentOf({ blobs }: Core, key: TaskKey, part: Part): Promise<Part> {
  const reference = part.text ?? part.raw ?? part.data;
  const name = typeof reference === 'string' ? reference.slice(PREFIX.length) : '';
  const content = await blobs?.get(key, name);
  // A shortened or changed artifact must not pass for the real one.
  if (content === undefined || (await hashOf(content)) !== name) {
    throw new A2AError('INTERNAL_ERROR', undefined, { cause: new Error(`blob ${name} of task ${key} is missing or damaged`) });
  }
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  return part.data === undefined ? withContent(part, text) : { ...part, data: JSON.parse(text) };
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
