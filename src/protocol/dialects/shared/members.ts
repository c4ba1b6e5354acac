import type { ContextId, MessageId, TaskId } from '../../ids.ts';
import { contextId, messageId } from '../../ids.ts';
import type { Mutable } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { Artifact } from '../../task.ts';
import type { ReadEnv } from '../dialect.ts';
import type { Raw } from './read.ts';
import { idIf, metadataIf, textIf, textsIf } from './read.ts';

/** The members of a message besides its id, role, parts and task, in every version that has them. */
export function readMessageMembers(m: Raw, out: Mutable<Message>, env: ReadEnv): void {
  const context = idIf<ContextId>(m.contextId ?? m.context_id, 'contextId', env);
  if (context !== undefined) out.contextId = context;
  const metadata = metadataIf(m.metadata, 'metadata', env);
  if (metadata !== undefined) out.metadata = metadata;
  const extensions = textsIf(m.extensions, 'extensions');
  if (extensions !== undefined) out.extensions = extensions;
  const references = textsIf<TaskId>(m.referenceTaskIds ?? m.reference_task_ids, 'referenceTaskIds');
  if (references !== undefined) out.referenceTaskIds = references;
}

/**
 * The id of a message in a result or an event. Dialects without message ids, and peers that leave one
 * out, get a new one.
 */
export function messageIdOf(m: Raw, env: ReadEnv): MessageId {
  return idIf<MessageId>(m.messageId ?? m.message_id, 'messageId', env) ?? messageId(env.ids.next());
}

/** The context of an event that names none. */
export const NO_CONTEXT: ContextId = contextId('');

/** The context of an event, or NO_CONTEXT if the peer leaves it out. */
export function eventContextOf(event: Raw, env: ReadEnv): ContextId {
  return idIf<ContextId>(event.contextId ?? event.context_id, 'contextId', env) ?? NO_CONTEXT;
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
