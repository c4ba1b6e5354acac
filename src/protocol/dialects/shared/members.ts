import type { ContextId, TaskId } from '../../ids.ts';
import type { Mutable } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { Artifact } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from './read.ts';
import { idIf, metadataIf, textIf, textsIf } from './read.ts';

/** The members of a message besides its id, role, parts and task, in every version that has them. */
export function readMessageMembers(m: Raw, out: Mutable<Message>, env: ReadEnv): void {
  const contextId = idIf<ContextId>(m.contextId ?? m.context_id, 'contextId', env);
  if (contextId !== undefined) out.contextId = contextId;
  const metadata = metadataIf(m.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  const extensions = textsIf(m.extensions, 'extensions');
  if (extensions !== undefined) out.extensions = extensions;
  const references = textsIf(m.referenceTaskIds ?? m.reference_task_ids, 'referenceTaskIds');
  if (references !== undefined) out.referenceTaskIds = references as TaskId[];
}

/** The members of an artifact besides its id and parts. */
export function readArtifactMembers(a: Raw, out: Mutable<Artifact>, env: ReadEnv): void {
  const name = textIf(a.name, 'name');
  if (name) out.name = name;
  const description = textIf(a.description, 'description');
  if (description) out.description = description;
  const metadata = metadataIf(a.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  const extensions = textsIf(a.extensions, 'extensions');
  if (extensions !== undefined) out.extensions = extensions;
}
