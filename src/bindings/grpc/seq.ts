import type { Logged, Metadata, Seq, TaskEvent } from '#protocol';
import { seq as toSeq } from '#protocol';

/**
 * The extension of streams over gRPC, which have no event ids: each event carries its sequence number
 * in its `metadata`, under this name. A caller that names the extension in `a2a-extensions` gets the
 * numbers, and resumes after one with the metadata key `last-event-id` of a subscription.
 */
export const SEQ_EXTENSION = 'urn:parley:a2a:seq:v1';

/** The event with its sequence number in its metadata. The same event if it has no number. */
export function numbered({ event, seq }: Logged): TaskEvent {
  if (seq === undefined) return event;
  if (event.artifactUpdate !== undefined) return { artifactUpdate: marked(event.artifactUpdate, seq) };
  if (event.statusUpdate !== undefined) return { statusUpdate: marked(event.statusUpdate, seq) };
  if (event.task !== undefined) return { task: marked(event.task, seq) };
  return { message: marked(event.message, seq) };
}

function marked<T extends { readonly metadata?: Metadata }>(value: T, seq: Seq): T {
  return { ...value, metadata: { ...value.metadata, [SEQ_EXTENSION]: seq } };
}

/** Reverses `numbered`: takes the number out of the metadata. */
export function unnumbered(event: TaskEvent): Logged {
  if (event.artifactUpdate !== undefined) return logged(event.artifactUpdate, (artifactUpdate) => ({ artifactUpdate }));
  if (event.statusUpdate !== undefined) return logged(event.statusUpdate, (statusUpdate) => ({ statusUpdate }));
  if (event.task !== undefined) return logged(event.task, (task) => ({ task }));
  return logged(event.message, (message) => ({ message }));
}

function logged<T extends { readonly metadata?: Metadata }>(value: T, wrap: (value: T) => TaskEvent): Logged {
  const found = value.metadata?.[SEQ_EXTENSION];
  if (typeof found !== 'number' || !Number.isSafeInteger(found) || found < 0) return { event: wrap(value) };
  const { [SEQ_EXTENSION]: _, ...others } = value.metadata ?? {};
  const { metadata: __, ...rest } = value;
  // Without the number, nothing may be left of a metadata that the server added.
  const bare = Object.keys(others).length === 0 ? rest : { ...rest, metadata: others };
  return { seq: toSeq(found), event: wrap(bare as T) };
}
