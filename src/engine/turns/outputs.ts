import type { AgentOutput, Artifact, Ids, Message, Metadata, Mutable, Part, TaskArtifactUpdate, TaskEvent, TaskState } from '#protocol';
import { A2AError, artifactId, isTerminal, unreachable } from '#protocol';
import type { EngineClock } from '../engine-clock.ts';
import type { TaskRow } from '../ports.ts';
import type { StatusDetails } from '../tasks/events.ts';
import { contentLength, inDigits, statusEvent } from '../tasks/events.ts';
import type { Modes } from './modes.ts';
import { fitParts } from './modes.ts';
import { engineMessage } from './stop.ts';

/** What an output does to its turn. */
export interface OutputEffect {
  readonly events: readonly TaskEvent[];
  /** This was the last output of the run. */
  readonly ends: boolean;
  /** A direct message: it replaces the task if no caller can know of the task. */
  readonly message?: Message;
}

/** What a run has produced so far. */
export interface RunOutputs {
  readonly artifacts: Map<string, ArtifactSize>;
  /** What the caller accepts. Undefined: anything. */
  readonly accepted: Modes | undefined;
  unnamed: number;
}

interface ArtifactSize {
  bytes: number;
  /**
   * Its first chunk came from this run, or from the one that this run resumes: further text is appended
   * to it.
   */
  readonly isOurs: boolean;
}

/** What turning outputs into events needs of the engine. */
export interface OutputParts {
  readonly clock: EngineClock;
  readonly ids: Ids;
  readonly limits: { readonly artifactBytesMax: number };
}

/** The task that the output belongs to. */
type OutputTask = Pick<TaskRow, 'id' | 'contextId' | 'turn'>;

/** Starts a run without outputs. A resumed run continues the artifacts of the one before it. */
export function startOutputs(accepted: Modes | undefined, before: readonly Artifact[], isResumed: boolean): RunOutputs {
  const artifacts = new Map<string, ArtifactSize>();
  for (const { artifactId: id, parts } of before) {
    artifacts.set(id, { bytes: parts.reduce((sum, part) => sum + contentLength(part), 0), isOurs: isResumed });
  }
  return { artifacts, accepted, unnamed: 0 };
}

/** The events of one output. Throws if the artifact would exceed its maximum size. */
export function effectOf(parts: OutputParts, task: OutputTask, outputs: RunOutputs, output: AgentOutput): OutputEffect {
  switch (output.kind) {
    case 'status':
      return going([status(parts, task, 'TASK_STATE_WORKING', output)]);
    case 'text': {
      const id = output.artifact ?? answerId(task);
      const append = outputs.artifacts.get(id)?.isOurs ?? false;
      return going(chunkEvents(parts, task, outputs, { id, parts: [{ text: output.text }], append, last: output.last }));
    }
    case 'artifact':
      return going(chunkEvents(parts, task, outputs, { ...output, id: output.id ?? nextId(task, outputs) }));
    case 'data':
      return going(chunkEvents(parts, task, outputs, { id: nextId(task, outputs), parts: [{ data: output.data }], name: output.name }));
    case 'complete':
      return ending(status(parts, task, 'TASK_STATE_COMPLETED', output));
    case 'fail':
      return ending(status(parts, task, 'TASK_STATE_FAILED', { message: output.reason }));
    case 'ask':
      return ending(status(parts, task, 'TASK_STATE_INPUT_REQUIRED', { message: output.question }));
    case 'auth':
      return going([status(parts, task, 'TASK_STATE_AUTH_REQUIRED', { message: output.request })]);
    case 'reject':
      return ending(status(parts, task, 'TASK_STATE_REJECTED', { message: output.reason }));
    case 'message':
      return { events: [], ends: true, message: fitted(output.message, outputs.accepted) };
    case 'event':
      return givenEvent(parts, task, outputs, output.event);
    default:
      return unreachable(output);
  }
}

/** An agent's own event, with the task's ids and the engine's time. */
function givenEvent(
  parts: OutputParts,
  task: OutputTask,
  outputs: RunOutputs,
  { statusUpdate, artifactUpdate }: Extract<AgentOutput, { readonly kind: 'event' }>['event'],
): OutputEffect {
  if (artifactUpdate !== undefined) {
    const { artifact, append, lastChunk, metadata } = artifactUpdate;
    const chunk = { ...artifact, id: artifact.artifactId, append, last: lastChunk, taskMetadata: metadata };
    return going(chunkEvents(parts, task, outputs, chunk));
  }
  const { status: given, metadata } = statusUpdate;
  const event = status(parts, task, given.state, { message: given.message, metadata });
  return { events: [event], ends: isTerminal(given.state) || given.state === 'TASK_STATE_INPUT_REQUIRED' };
}

function status({ clock }: OutputParts, task: OutputTask, state: TaskState, { message, metadata }: StatusDetails): TaskEvent {
  return statusEvent(task, { state, timestamp: clock.now().iso, message, metadata });
}

interface Chunk {
  readonly id: string;
  readonly parts: readonly Part[];
  readonly append?: boolean | undefined;
  readonly last?: boolean | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly extensions?: readonly string[] | undefined;
  readonly metadata?: Metadata | undefined;
  readonly taskMetadata?: Metadata | undefined;
}

/**
 * The chunk in a form that the caller accepts, and a status message about parts that had to be left
 * out.
 */
function chunkEvents(parts: OutputParts, task: OutputTask, outputs: RunOutputs, chunk: Chunk): readonly TaskEvent[] {
  if (outputs.accepted === undefined) return [chunkEvent(parts, task, outputs, chunk)];
  const { parts: accepted, leftOut } = fitParts(chunk.parts, outputs.accepted);
  if (leftOut.length === 0) return [chunkEvent(parts, task, outputs, { ...chunk, parts: accepted })];
  const types = [...new Set(leftOut)].join(', ');
  const text = `Left out of ${chunk.name ?? chunk.id}: ${types}. The caller accepts ${outputs.accepted.listed.join(', ')}.`;
  const note = status(parts, task, 'TASK_STATE_WORKING', { message: engineMessage(parts.ids, text) });
  return accepted.length === 0 ? [note] : [chunkEvent(parts, task, outputs, { ...chunk, parts: accepted }), note];
}

/** The event for a chunk of an artifact. */
function chunkEvent(parts: OutputParts, task: OutputTask, outputs: RunOutputs, chunk: Chunk): TaskEvent {
  countBytes(parts, outputs, chunk);
  const artifact: Mutable<Artifact> = { artifactId: artifactId(chunk.id), parts: chunk.parts };
  if (chunk.name !== undefined) artifact.name = chunk.name;
  if (chunk.description !== undefined) artifact.description = chunk.description;
  if (chunk.extensions !== undefined) artifact.extensions = chunk.extensions;
  if (chunk.metadata !== undefined) artifact.metadata = chunk.metadata;
  const update: Mutable<TaskArtifactUpdate> = { taskId: task.id, contextId: task.contextId, artifact };
  if (chunk.append === true) update.append = true;
  if (chunk.last === true) update.lastChunk = true;
  if (chunk.taskMetadata !== undefined) update.metadata = chunk.taskMetadata;
  return { artifactUpdate: update };
}

/** Adds a chunk to the size of its artifact. Throws if the artifact would become too large. */
function countBytes({ limits }: OutputParts, outputs: RunOutputs, chunk: Chunk): void {
  let bytes = 0;
  // A file counts with its own size, not with that of its base64.
  for (const part of chunk.parts) bytes += part.raw === undefined ? contentLength(part) : Math.floor((part.raw.length * 3) / 4);
  const known = outputs.artifacts.get(chunk.id);
  const total = chunk.append === true && known !== undefined ? known.bytes + bytes : bytes;
  if (total > limits.artifactBytesMax) {
    const most = inDigits(limits.artifactBytesMax);
    throw new A2AError(
      'INVALID_AGENT_RESPONSE',
      `artifact ${chunk.id} would exceed the maximum of ${most} bytes; yield a link to it, or raise the limit artifactBytesMax`,
    );
  }
  if (known?.isOurs === true) known.bytes = total;
  else outputs.artifacts.set(chunk.id, { bytes: total, isOurs: true });
}

/**
 * Ids depend on the turn, not on chance: a repeated run uses the same ids and so replaces what the
 * first one produced.
 */
function answerId({ turn }: OutputTask): string {
  return turn === 1 ? 'response' : `response-${turn}`;
}

function nextId({ turn }: OutputTask, outputs: RunOutputs): string {
  outputs.unnamed += 1;
  return `artifact-${turn}-${outputs.unnamed}`;
}

/** A direct message has no task for a status message: it names the parts that were left out itself. */
function fitted(message: Message, accepted: Modes | undefined): Message {
  if (accepted === undefined) return message;
  const { parts, leftOut } = fitParts(message.parts, accepted);
  if (leftOut.length === 0) return { ...message, parts };
  return { ...message, parts: [...parts, { text: `Left out: ${leftOut.join(', ')}.` }] };
}

function going(events: readonly TaskEvent[]): OutputEffect {
  return { events, ends: false };
}

function ending(event: TaskEvent): OutputEffect {
  return { events: [event], ends: true };
}
