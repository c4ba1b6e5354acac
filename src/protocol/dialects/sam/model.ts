import type { TaskEvent } from '../../events.ts';
import type { Mutable } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { FilePart, Part } from '../../parts.ts';
import type { Artifact, Task } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import { readArtifactMembers } from '../shared/members.ts';
import type { Raw, Reader } from '../shared/read.ts';
import { fail, freeform, id, isRaw, listIf, member, metadataIf, object, text, textIf } from '../shared/read.ts';
import { base64 } from '../shared/values.ts';
import { isSet, onlyMember, unwrapData, withFileMembers } from '../shared/wire-parts.ts';
import { KIND_FORM } from '../v03/form.ts';
import { readKindFile, withMetadata } from '../v03/parts.ts';
import { readers } from '../v03/read.ts';

/**
 * SAM uses the models of a2a-sdk 0.3.7, which accept the Python name and the JSON name of each member
 * and do not require `kind` (docs/dialects/sam.md, "Model"). So 0.3's readers serve both spellings;
 * only parts and artifacts have forms of their own.
 */
const read = readers({ ...KIND_FORM, readPart, readArtifact });

export const readTask: Reader<Task> = read.task;
export const readEvent: Reader<TaskEvent> = read.event;

/**
 * A message in a request. Its task id is left out, because in a request it is the caller's name for the
 * task.
 */
export function readRequestMessage(raw: unknown, env: ReadEnv): Message {
  const { kind } = object(raw);
  if (kind !== undefined && kind !== 'message') fail('kind', 'must be message');
  const { taskId: _, ...message } = read.requestMessage(raw, env);
  return message;
}

/**
 * Exactly one of text, file and data. `kind` is optional, but must agree with it. Data may be any JSON.
 */
function readPart(raw: unknown, env: ReadEnv): Part {
  const p = object(raw);
  const kind = onlyMember(p);
  if (isSet(p.kind) && p.kind !== kind) fail('kind', `must be ${kind}, as the part has ${kind}`);
  if (kind === 'data') return unwrapData(freeform(p.data, 'data', env), metadataIf(p.metadata, 'metadata', env));
  return withMetadata(kind === 'text' ? { text: text(p.text, 'text') } : member(p.file, 'file', readKindFile, env), p, env);
}

/**
 * Reads both forms of an artifact: with `parts`, and the object of SAM's documentation, which is one
 * file.
 */
function readArtifact(raw: unknown, env: ReadEnv): Artifact {
  const a = object(raw);
  const out: Mutable<Artifact> = {
    artifactId: id(a.artifactId ?? a.artifact_id ?? a.id, 'id', env),
    parts: isSet(a.parts) ? (listIf(a.parts, 'parts', readPart, env) ?? []) : readContent(a),
  };
  readArtifactMembers(a, out, env);
  return out;
}

/**
 * The content of a documented artifact. It may come by reference and inline at once. That is one file,
 * so it becomes one part: the bytes, with the address in its metadata.
 */
function readContent(a: Raw): readonly Part[] {
  const inline = a.inline_data ?? a.inlineData;
  const bytes = isRaw(inline) ? inline.data : undefined;
  const uri = textIf(a.uri, 'uri');
  if (uri === undefined && !isSet(bytes)) return [];
  const out: Mutable<FilePart> = withFileMembers(isSet(bytes) ? { raw: base64(bytes, 'inline_data.data') } : { url: uri ?? '' }, a);
  if (uri !== undefined && out.raw !== undefined) out.metadata = { uri };
  return [out];
}
