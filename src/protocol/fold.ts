import { appendParts } from './chunks.ts';
import { A2AError } from './errors.ts';
import type { TaskArtifactUpdate, TaskEvent } from './events.ts';
import type { Seq } from './ids.ts';
import type { Mutable } from './json.ts';
import type { Message } from './message.ts';
import type { Part } from './parts.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/**
 * Applies an event to a task and returns the new task. The old task is not changed. Follows A2A 1.0.1
 * §3.7 as the official SDKs implement it: the previous status message joins the history, and an
 * artifact is replaced or extended by its id.
 *
 * ```ts
 * let task: Task | undefined;
 * for await (const batch of events) for (const { event } of batch) task = foldEvent(task, event);
 * ```
 */
export function foldEvent(task: Task | undefined, event: TaskEvent): Task {
  if (event.task !== undefined) return event.task;
  if (event.message !== undefined || task === undefined) {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'a stream folds into a task only if it starts with one');
  }
  if (event.statusUpdate !== undefined) {
    const { status, metadata, generation } = event.statusUpdate;
    return withMembers(task, { status, metadata, generation, history: historyAfter(task) });
  }
  const { metadata, generation } = event.artifactUpdate;
  return withMembers(task, { metadata, generation, artifacts: artifactsAfter(task.artifacts ?? [], event.artifactUpdate) });
}

/**
 * The same for many events, at a cost that does not grow with the task: chunks are collected in place,
 * and only `task()` builds a task. A log of 100,000 chunks folds in one pass.
 */
export interface TaskFold {
  /** Applies an event. `input` is the caller's message that came with it; it joins the history. */
  add(event: TaskEvent, input?: Message): void;
  /** Number of messages in the history so far. */
  readonly said: number;
  /** The task so far. `generation` is the sequence number to put on it. */
  task(generation?: Seq): Task;
}

/** Starts an empty fold. The first event must be a task. */
export function startFold(): TaskFold {
  return new Fold();
}

type Gathered = Mutable<Artifact> & { parts: Part[] };

class Fold implements TaskFold {
  #base: Task | undefined;
  #history: Message[] = [];
  /** Ids of the messages in the history. Built when it is first needed. */
  #known: Set<string> | undefined;
  #artifacts: Map<string, Gathered> | undefined;

  get said(): number {
    return this.#history.length;
  }

  add(event: TaskEvent, input?: Message): void {
    if (event.message !== undefined) throw new Error('a direct message is not part of a task');
    if (event.task !== undefined) {
      this.#start(event.task);
      return;
    }
    if (this.#base === undefined) throw new Error('a stream folds into a task only if it starts with one');
    if (event.artifactUpdate !== undefined) {
      this.#artifacts ??= new Map();
      addChunk(this.#artifacts, event.artifactUpdate);
    } else {
      this.#say(this.#base.status.message);
      // A caller may use a message id twice: both messages belong to the history.
      if (input !== undefined) this.#push(input);
      this.#base = { ...this.#base, status: event.statusUpdate.status };
    }
    const { metadata, generation } = event.artifactUpdate ?? event.statusUpdate;
    if (metadata !== undefined) this.#base = { ...this.#base, metadata: { ...this.#base.metadata, ...metadata } };
    if (generation !== undefined) this.#base = { ...this.#base, generation };
  }

  task(generation?: Seq): Task {
    const base = this.#base;
    if (base === undefined) throw new Error('nothing has been folded yet');
    const task: Mutable<Task> = { id: base.id, status: base.status };
    if (base.contextId !== undefined) task.contextId = base.contextId;
    if (this.#artifacts !== undefined && this.#artifacts.size > 0) {
      task.artifacts = Array.from(this.#artifacts.values(), (artifact) => ({ ...artifact, parts: [...artifact.parts] }));
    }
    if (this.#history.length > 0) task.history = [...this.#history];
    if (base.metadata !== undefined) task.metadata = base.metadata;
    const numbered = generation ?? base.generation;
    if (numbered !== undefined) task.generation = numbered;
    return task;
  }

  #start(task: Task): void {
    this.#base = task;
    this.#history = [...(task.history ?? [])];
    this.#known = undefined;
    const artifacts = task.artifacts ?? [];
    this.#artifacts = artifacts.length === 0 ? undefined : new Map(artifacts.map((artifact) => [artifact.artifactId, gathered(artifact)]));
  }

  /** Adds a status message of the agent to the history, unless a message with its id is there. */
  #say(message: Message | undefined): void {
    if (message === undefined) return;
    this.#known ??= new Set(this.#history.map((each) => each.messageId));
    if (message.messageId === '' || !this.#known.has(message.messageId)) this.#push(message);
  }

  #push(message: Message): void {
    this.#history.push(message);
    this.#known?.add(message.messageId);
  }
}

function gathered(artifact: Artifact): Gathered {
  return { ...artifact, parts: [...artifact.parts] };
}

function addChunk(artifacts: Map<string, Gathered>, update: TaskArtifactUpdate): void {
  const { artifact: chunk } = update;
  const before = artifacts.get(chunk.artifactId);
  if (before === undefined || update.append !== true) {
    artifacts.set(chunk.artifactId, gathered(chunk));
    return;
  }
  appendParts(before.parts, chunk.parts);
  if (chunk.name !== undefined) before.name = chunk.name;
  if (chunk.description !== undefined) before.description = chunk.description;
  if (chunk.extensions !== undefined) before.extensions = chunk.extensions;
  if (chunk.metadata !== undefined) before.metadata = { ...before.metadata, ...chunk.metadata };
}

/** An artifact after one more chunk. A chunk for an unknown artifact creates it. */
export function assembleArtifact(before: Artifact | undefined, update: TaskArtifactUpdate): Artifact {
  const chunk = update.artifact;
  if (before === undefined || update.append !== true) return chunk;
  return {
    ...before,
    ...chunk,
    parts: appendParts([...before.parts], chunk.parts),
    ...(before.metadata === undefined && chunk.metadata === undefined ? {} : { metadata: { ...before.metadata, ...chunk.metadata } }),
  };
}

function artifactsAfter(before: readonly Artifact[], update: TaskArtifactUpdate): readonly Artifact[] {
  const at = before.findIndex((artifact) => artifact.artifactId === update.artifact.artifactId);
  const next = assembleArtifact(before[at], update);
  return at === -1 ? [...before, next] : before.with(at, next);
}

function historyAfter(task: Task): readonly Message[] | undefined {
  const said = task.status.message;
  if (said === undefined) return task.history;
  const known = said.messageId !== '' && (task.history?.some((message) => message.messageId === said.messageId) ?? false);
  return known ? task.history : [...(task.history ?? []), said];
}

interface Change {
  readonly status?: TaskStatus | undefined;
  readonly metadata?: Task['metadata'] | undefined;
  readonly generation?: Task['generation'] | undefined;
  readonly history?: Task['history'] | undefined;
  readonly artifacts?: Task['artifacts'] | undefined;
}

function withMembers(task: Task, change: Change): Task {
  const next: Mutable<Task> = { ...task };
  if (change.status !== undefined) next.status = change.status;
  if (change.metadata !== undefined) next.metadata = { ...task.metadata, ...change.metadata };
  if (change.generation !== undefined) next.generation = change.generation;
  if (change.history !== undefined) next.history = change.history;
  if (change.artifacts !== undefined) next.artifacts = change.artifacts;
  return next;
}
