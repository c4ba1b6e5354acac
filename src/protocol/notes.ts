import type { Metadata } from './json.ts';

/**
 * Members of a task's metadata that are ours: they are read back as facts, so a caller who could write them would reach what is
 * another's. They come by `CallContext.notes` and from agents; what callers, and origins of other nodes, send under these names is dropped.
 */
export const ORIGIN_NOTE = 'urn:parley:a2a:origin:v1';
export const MESH_NOTE = 'urn:parley:a2a:mesh:v1';

export function withoutNotes(metadata: Metadata | undefined): Metadata | undefined {
  if (metadata === undefined || !(ORIGIN_NOTE in metadata || MESH_NOTE in metadata)) return metadata;
  const { [ORIGIN_NOTE]: _, [MESH_NOTE]: __, ...rest } = metadata;
  return Object.keys(rest).length === 0 ? undefined : rest;
}
