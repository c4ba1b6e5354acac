import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import type { Artifact, TaskStatus } from '../../task.ts';
import type { Codec } from '../define.ts';

/**
 * Products that took 1.0's shapes, without `kind`, and kept 0.x's words: roles in lower case, states of their own. The model
 * is written once here; the words are an argument.
 */
export interface FlatWords extends ContextLimit {
  readonly states: ReadonlyMap<unknown, TaskState>;
  readonly stateNames: Readonly<Record<TaskState, string>>;
  readonly part: Codec<Part>;
  readonly message: Codec<Message>;
}

export interface ContextLimit {
  /** How long a context's id may be, where the product allows more than we do. */
  readonly contextCharsMax?: number;
}

/** Where a message has its context: beside its id, or, in Cortex, among its metadata. */
export interface MessageWords extends ContextLimit {
  readonly part: Codec<Part>;
  readonly contextInMetadata?: true;
}

/** The words, and the codecs made of them. */
export interface Insides extends FlatWords {
  readonly status: Codec<TaskStatus>;
  readonly artifact: Codec<Artifact>;
}
