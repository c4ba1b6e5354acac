import { artifactId as asArtifactId } from '../../ids.ts';
import type { Json, JsonDraft, Mutable } from '../../json.ts';
import type { Artifact } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { countIf, list, listIf, metadataIf, object, textIf } from '../shared/read.ts';
import { readPart, writeParts } from './parts.ts';

/**
 * 0.1 identifies an artifact by its `index` in the task, 0 if absent; we use an id. An index becomes an
 * id of the same digits, and such an id becomes the index again. Any other id is numbered by its first
 * appearance, which is its position in the task, so that a stream and a later `tasks/get` agree.
 */
export function readArtifact(raw: unknown, env: ReadEnv): Mutable<Artifact> {
  return readBody(raw, env, '0');
}

/** Artifacts of 0.1 have an index instead of an id. */
function readBody(raw: unknown, env: ReadEnv, unnumbered: string): Mutable<Artifact> {
  const a = object(raw);
  const index = countIf(a.index, 'index');
  const out: Mutable<Artifact> = {
    artifactId: asArtifactId(index === undefined ? unnumbered : String(index)),
    parts: listIf(a.parts, 'parts', readPart, env) ?? [],
  };
  const name = textIf(a.name, 'name');
  if (name) out.name = name;
  const description = textIf(a.description, 'description');
  if (description) out.description = description;
  const metadata = metadataIf(a.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  return out;
}

/**
 * The artifacts of a task. Some servers leave every index at its default 0, which would make them one
 * artifact; here the later ones get numbers of their own.
 */
export function readArtifacts(raw: unknown, env: ReadEnv): readonly Artifact[] {
  const out = list(raw, '', readUnnumbered, env);
  const inOrder = out.every((artifact, at) => {
    if (artifact.artifactId === '') artifact.artifactId = asArtifactId(String(at));
    return artifact.artifactId === String(at);
  });
  if (inOrder) return out;
  const number = artifactNumbers();
  const seen = new Set<string>();
  out.forEach((artifact, at) => {
    const id = artifact.artifactId === '' ? String(at) : artifact.artifactId;
    artifact.artifactId = asArtifactId(String(number(seen.has(id) ? `${id} at ${at}` : id)));
    seen.add(id);
  });
  return out;
}

function readUnnumbered(raw: unknown, env: ReadEnv): Mutable<Artifact> {
  return readBody(raw, env, '');
}

/** Numbers artifacts in the order in which they are first passed in. */
export function artifactNumbers(): (artifactId: string) => number {
  const known = new Map<string, number>();
  const taken = new Set<number>();
  let next = 0;
  return (artifactId) => {
    const before = known.get(artifactId);
    if (before !== undefined) return before;
    let index = ownIndex(artifactId);
    if (index === undefined || taken.has(index)) {
      while (taken.has(next)) next += 1;
      index = next;
    }
    known.set(artifactId, index);
    taken.add(index);
    return index;
  };
}

const INDEX_MAX = 0x7fffffff;

/** The number that the id spells, or undefined: `7` is one, `07` is not. */
export function ownIndex(artifactId: string): number | undefined {
  const first = artifactId.charCodeAt(0);
  if (!(first >= 48 && first <= 57)) return undefined;
  const number = Number(artifactId);
  return number <= INDEX_MAX && String(number) === artifactId && Number.isInteger(number) ? number : undefined;
}

/** Writes an artifact with its index. */
export function writeArtifact(artifact: Artifact, index: number): JsonDraft {
  const out: JsonDraft = { index, parts: writeParts(artifact.parts) };
  if (artifact.name !== undefined) out.name = artifact.name;
  if (artifact.description !== undefined) out.description = artifact.description;
  if (artifact.metadata !== undefined) out.metadata = artifact.metadata;
  return out;
}

/** Numbers artifacts by their position, or by their own ids if these are numbers. */
export function writeArtifacts(artifacts: readonly Artifact[]): Json {
  const number = isInOrder(artifacts) ? undefined : artifactNumbers();
  const out: Json[] = [];
  for (const artifact of artifacts) out.push(writeArtifact(artifact, number === undefined ? out.length : number(artifact.artifactId)));
  return out;
}

/**
 * Whether numbering by first appearance gives every artifact its position. This is the common case and
 * needs no map.
 */
function isInOrder(artifacts: readonly Artifact[]): boolean {
  return artifacts.every(({ artifactId }, at) => {
    const own = ownIndex(artifactId);
    return own === undefined || own === at;
  });
}
