import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import type { Artifact, TaskStatus } from '../../task.ts';
import type { Codec } from '../define.ts';

/**
 * For products that use 1.0's shapes without `kind` and 0.x's vocabulary: roles in lower case, states
 * of their own. The model is shared; the vocabulary is its argument.
 */
export interface FlatVocabulary extends ContextLimit {
  readonly states: ReadonlyMap<unknown, TaskState>;
  readonly stateNames: Readonly<Record<TaskState, string>>;
  readonly part: Codec<Part>;
  readonly message: Codec<Message>;
}

/** A product's own maximum for context ids. */
export interface ContextLimit {
  /** The maximum length of a context id, where the product allows more than we do. */
  readonly contextCharsMax?: number;
}

/** The place of a message's context: beside its id or, in Cortex, in its metadata. */
export interface MessageVocabulary extends ContextLimit {
  readonly part: Codec<Part>;
  readonly contextInMetadata?: true;
}

/** The vocabulary, and the codecs made from it. */
export interface FlatCodecs extends FlatVocabulary {
  readonly status: Codec<TaskStatus>;
  readonly artifact: Codec<Artifact>;
}
