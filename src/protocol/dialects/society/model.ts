import { artifactId, messageId } from '../../ids.ts';
import type { Json, Mutable } from '../../json.ts';
import type { Message, Role } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { Artifact } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { fail, freeform, list, listIf, object, oneOf, textIf } from '../shared/read.ts';
import { writeFileMembers } from '../shared/wire-parts.ts';

const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ['user', 'ROLE_USER'],
  ['agent', 'ROLE_AGENT'],
]);

/** `{type, text?, data?}`. Go leaves out empty members, so an absent member is an empty one. */
export function readPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  if (p.type === 'text') return { text: textIf(p.text, 'text') ?? '' };
  if (p.type === 'data') return { data: p.data === undefined ? null : freeform(p.data, 'data', env) };
  return fail('type', 'must be text or data');
}

/**
 * Society has no files. A file is written as data, which Society's clients pass on without reading it.
 */
function writePart(part: Part): Json {
  if (part.text !== undefined) return { type: 'text', text: part.text };
  if (part.data !== undefined) return { type: 'data', data: part.data };
  const file = writeFileMembers(part.url === undefined ? { bytes: part.raw } : { uri: part.url }, part);
  return { type: 'data', data: { file } };
}

export function writeParts(parts: readonly Part[]): readonly Json[] {
  const out: Json[] = [];
  for (const part of parts) out.push(writePart(part));
  return out;
}

/** Society's messages have no id, so one is generated. */
export function readMessage(raw: unknown, env: ReadEnv): Message {
  const m = object(raw);
  return {
    messageId: messageId(env.ids.next()),
    role: oneOf(m.role, 'role', ROLES),
    parts: listIf(m.parts, 'parts', readPart, env) ?? [],
  };
}

export function writeMessage(message: Message): Json {
  return { role: message.role === 'ROLE_USER' ? 'user' : 'agent', parts: writeParts(message.parts) };
}

/** Artifacts have no ids. Their position is used as the id. */
export function readArtifacts(raw: unknown, env: ReadEnv): Mutable<Artifact>[] {
  const out = list(raw, '', readArtifact, env);
  out.forEach((artifact, at) => {
    artifact.artifactId = artifactId(String(at));
  });
  return out;
}

/** Society's artifacts have no id. It is assigned by their position. */
function readArtifact(raw: unknown, env: ReadEnv): Mutable<Artifact> {
  const a = object(raw);
  const out: Mutable<Artifact> = { artifactId: artifactId(''), parts: listIf(a.parts, 'parts', readPart, env) ?? [] };
  const name = textIf(a.name, 'name');
  if (name) out.name = name;
  return out;
}

export function writeArtifacts(artifacts: readonly Artifact[]): Json[] {
  const out: Json[] = [];
  for (const artifact of artifacts) out.push(writeArtifact(artifact.name, artifact.parts));
  return out;
}

/** The name of the agent's output in Society's documents. */
export function writeArtifact(name: string | undefined, parts: readonly Part[]): Json {
  return { name: name ?? 'response', parts: writeParts(parts) };
}
