import type { ArtifactId, Logged, TaskArtifactUpdate, TaskEvent } from '#protocol';

/** An artifact that began with `append`, and how often its own id has come. */
interface OpenText {
  readonly id: ArtifactId;
  events: number;
}

/**
 * Joins the chunks of servers that give every chunk an artifact id of its own, with `append: true`
 * (PromptKit, coding-agent-a2a). Such a chunk belongs to the text before it of the same name. An id that
 * comes again is a real artifact: nothing is joined to it.
 */
export class ChunkJoiner {
  readonly #begun = new Set<string>();
  /** By the artifact's name. */
  readonly #open = new Map<string, OpenText>();

  join(batch: readonly Logged[]): readonly Logged[] {
    let joined: Logged[] | undefined;
    for (let at = 0; at < batch.length; at += 1) {
      const logged = batch[at] as Logged;
      const event = this.#joined(logged.event);
      if (event === logged.event) continue;
      joined ??= [...batch];
      joined[at] = { ...logged, event };
    }
    return joined ?? batch;
  }

  #joined(event: TaskEvent): TaskEvent {
    for (const { artifactId } of event.task?.artifacts ?? []) this.#begun.add(artifactId);
    const { artifactUpdate: update } = event;
    if (update === undefined) return event;
    const { artifactId } = update.artifact;
    if (update.append !== true) this.#begun.add(artifactId);
    if (this.#begun.has(artifactId)) return event;
    return this.#appended(event, update);
  }

  #appended(event: TaskEvent, update: TaskArtifactUpdate): TaskEvent {
    const { artifactId, name = '' } = update.artifact;
    const open = this.#open.get(name);
    if (open === undefined || open.events > 1) {
      if (open !== undefined) this.#begun.add(open.id);
      this.#open.set(name, { id: artifactId, events: 1 });
      return event;
    }
    if (open.id === artifactId) {
      open.events += 1;
      return event;
    }
    return { artifactUpdate: { ...update, artifact: { ...update.artifact, artifactId: open.id } } };
  }
}
