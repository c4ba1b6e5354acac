import type {
  AgentOutput,
  Artifact,
  Message,
  Metadata,
  Mutable,
  Part,
  TaskArtifactUpdate,
  TaskEvent,
  TaskState,
  TaskStatus,
} from '#protocol';
import { A2AError, artifactId, createAgentTextMessage, isTerminal, messageId, unreachable } from '#protocol';
import type { Core } from '../tasks/core.ts';
import { contentLength } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import type { Modes } from './modes.ts';
import { fitParts } from './modes.ts';

/** What an output does to its turn. */
export interface Effect {
  readonly events: readonly TaskEvent[];
  /** This was the run's last word. */
  readonly ends: boolean;
  /** A direct message: it replaces the task if nobody can have heard of it. */
  readonly message?: Message;
}

/** What a run has made so far. */
export interface Making {
  readonly artifacts: Map<string, Made>;
  /** What the caller accepts; undefined: anything. */
  readonly accepted: Modes | undefined;
  unnamed: number;
}

interface Made {
  bytes: number;
  /** Its first chunk came from this run, or from the one that this run resumes: further text is appended to it. */
  readonly isOurs: boolean;
}

export function startMaking(accepted: Modes | undefined, before: readonly Artifact[], isResumed: boolean): Making {
  const artifacts = new Map<string, Made>();
  for (const { artifactId: id, parts } of before) {
    artifacts.set(id, { bytes: parts.reduce((sum, part) => sum + contentLength(part), 0), isOurs: isResumed });
  }
  return { artifacts, accepted, unnamed: 0 };
}

export function effectOf(core: Core, live: Live, making: Making, output: AgentOutput): Effect {
  switch (output.kind) {
    case 'status':
      return going([statusEvent(core, live, 'TASK_STATE_WORKING', output)]);
    case 'text': {
      const id = output.artifact ?? answerId(live);
      const append = making.artifacts.get(id)?.isOurs ?? false;
      return going(chunkEvents(core, live, making, { id, parts: [{ text: output.text }], append, last: output.last }));
    }
    case 'artifact':
      return going(chunkEvents(core, live, making, { ...output, id: output.id ?? nextId(live, making) }));
    case 'data':
      return going(chunkEvents(core, live, making, { id: nextId(live, making), parts: [{ data: output.data }], name: output.name }));
    case 'complete':
      return ending(statusEvent(core, live, 'TASK_STATE_COMPLETED', output));
    case 'fail':
      return ending(statusEvent(core, live, 'TASK_STATE_FAILED', { message: output.reason }));
    case 'ask':
      return ending(statusEvent(core, live, 'TASK_STATE_INPUT_REQUIRED', { message: output.question }));
    case 'auth':
      return going([statusEvent(core, live, 'TASK_STATE_AUTH_REQUIRED', { message: output.request })]);
    case 'reject':
      return ending(statusEvent(core, live, 'TASK_STATE_REJECTED', { message: output.reason }));
    case 'message':
      return { events: [], ends: true, message: fitted(output.message, making.accepted) };
    case 'event':
      return givenEvent(core, live, making, output.event);
    default:
      return unreachable(output);
  }
}

/** An agent's own event, with the task's ids and the engine's time. */
function givenEvent(
  core: Core,
  live: Live,
  making: Making,
  { statusUpdate, artifactUpdate }: Extract<AgentOutput, { readonly kind: 'event' }>['event'],
): Effect {
  if (artifactUpdate !== undefined) {
    const { artifact, append, lastChunk, metadata } = artifactUpdate;
    return going(
      chunkEvents(core, live, making, { ...artifact, id: artifact.artifactId, append, last: lastChunk, taskMetadata: metadata }),
    );
  }
  const { status, metadata } = statusUpdate;
  const event = statusEvent(core, live, status.state, { message: status.message, metadata });
  return { events: [event], ends: isTerminal(status.state) || status.state === 'TASK_STATE_INPUT_REQUIRED' };
}

interface Said {
  readonly message?: Message | undefined;
  readonly metadata?: Metadata | undefined;
}

export function statusEvent(core: Core, live: Live, state: TaskState, said: Said = {}): TaskEvent {
  const { id: taskId, contextId } = live.row;
  const timestamp = core.now().iso;
  const status: TaskStatus =
    said.message === undefined ? { state, timestamp } : { state, message: { ...said.message, taskId, contextId }, timestamp };
  return {
    statusUpdate: said.metadata === undefined ? { taskId, contextId, status } : { taskId, contextId, status, metadata: said.metadata },
  };
}

/** The engine's own words. */
export function words(core: Core, text: string): Message {
  return createAgentTextMessage(text, { messageId: messageId(core.ids.next()) });
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

/** A chunk in the form that the caller accepts, and a word on what could not be given. */
function chunkEvents(core: Core, live: Live, making: Making, chunk: Chunk): readonly TaskEvent[] {
  if (making.accepted === undefined) return [chunkEvent(core, live, making, chunk)];
  const { parts, leftOut } = fitParts(chunk.parts, making.accepted);
  if (leftOut.length === 0) return [chunkEvent(core, live, making, { ...chunk, parts })];
  const types = [...new Set(leftOut)].join(', ');
  const text = `Left out of ${chunk.name ?? chunk.id}: ${types}. The caller accepts ${making.accepted.listed.join(', ')}.`;
  const note = statusEvent(core, live, 'TASK_STATE_WORKING', { message: words(core, text) });
  return parts.length === 0 ? [note] : [chunkEvent(core, live, making, { ...chunk, parts }), note];
}

function chunkEvent(core: Core, live: Live, making: Making, chunk: Chunk): TaskEvent {
  count(core, making, chunk);
  const artifact: Mutable<Artifact> = { artifactId: artifactId(chunk.id), parts: chunk.parts };
  if (chunk.name !== undefined) artifact.name = chunk.name;
  if (chunk.description !== undefined) artifact.description = chunk.description;
  if (chunk.extensions !== undefined) artifact.extensions = chunk.extensions;
  if (chunk.metadata !== undefined) artifact.metadata = chunk.metadata;
  const update: Mutable<TaskArtifactUpdate> = { taskId: live.row.id, contextId: live.row.contextId, artifact };
  if (chunk.append === true) update.append = true;
  if (chunk.last === true) update.lastChunk = true;
  if (chunk.taskMetadata !== undefined) update.metadata = chunk.taskMetadata;
  return { artifactUpdate: update };
}

function count(core: Core, making: Making, chunk: Chunk): void {
  let bytes = 0;
  for (const part of chunk.parts) bytes += contentLength(part);
  const made = making.artifacts.get(chunk.id);
  const total = chunk.append === true && made !== undefined ? made.bytes + bytes : bytes;
  if (total > core.limits.artifactBytesMax) {
    throw new A2AError('INVALID_AGENT_RESPONSE', `artifact ${chunk.id} would hold more than ${core.limits.artifactBytesMax} bytes`);
  }
  if (made?.isOurs === true) made.bytes = total;
  else making.artifacts.set(chunk.id, { bytes: total, isOurs: true });
}

/** Ids go by the turn, not by chance: a run that is repeated makes the same ones, and so replaces what the first one made. */
function answerId({ row }: Live): string {
  return row.turn === 1 ? 'response' : `response-${row.turn}`;
}

function nextId({ row }: Live, making: Making): string {
  making.unnamed += 1;
  return `artifact-${row.turn}-${making.unnamed}`;
}

/** A direct message has no task to make a note in: it says in itself what it had to leave out. */
function fitted(message: Message, accepted: Modes | undefined): Message {
  if (accepted === undefined) return message;
  const { parts, leftOut } = fitParts(message.parts, accepted);
  if (leftOut.length === 0) return { ...message, parts };
  return { ...message, parts: [...parts, { text: `Left out: ${leftOut.join(', ')}.` }] };
}

function going(events: readonly TaskEvent[]): Effect {
  return { events, ends: false };
}

function ending(event: TaskEvent): Effect {
  return { events: [event], ends: true };
}
