import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FilePart } from '#protocol';
import { createFilePartFromBytes, createFilePartFromUri, mediaTypeOfName } from '#protocol';

/** What `file` makes a part of. */
export interface FileContent {
  /** Default: the last part of the path or the address. */
  readonly name?: string;
  /** Default: the type that belongs to the ending of the name. */
  readonly mediaType?: string;
}

/**
 * A file, as part of an answer or of a message: its bytes, a link that the receiver downloads, or a file
 * of this machine, which is read.
 *
 * ```ts
 * yield file({ name: 'plan.md', bytes: new TextEncoder().encode(plan) });
 * yield file({ path: './report.pdf' });
 * yield file({ url: 'https://files.example/film.mp4' });
 * ```
 */
export function file(given: FileContent & { readonly bytes: Uint8Array; readonly path?: never; readonly url?: never }): FilePart;
export function file(given: FileContent & { readonly url: string; readonly path?: never; readonly bytes?: never }): FilePart;
export function file(given: FileContent & { readonly path: string; readonly bytes?: never; readonly url?: never }): Promise<FilePart>;
export function file(
  given: FileContent & { readonly bytes?: Uint8Array; readonly path?: string; readonly url?: string },
): FilePart | Promise<FilePart> {
  const { bytes, path, url } = given;
  const name = given.name ?? nameIn(path ?? (url !== undefined && URL.canParse(url) ? new URL(url).pathname : ''));
  const mediaType = given.mediaType ?? (name === undefined ? undefined : mediaTypeOfName(name));
  const about = { ...(name === undefined ? {} : { name }), ...(mediaType === undefined ? {} : { mediaType }) };
  if (bytes !== undefined) return createFilePartFromBytes(bytes, about);
  if (url !== undefined) return createFilePartFromUri(url, about);
  if (path === undefined) throw new TypeError('file() needs bytes, a path or a url');
  return readFile(path).then((content) => createFilePartFromBytes(content, about));
}

function nameIn(path: string): string | undefined {
  return basename(path) || undefined;
}
