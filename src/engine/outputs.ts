import type { AgentOutput, Artifact, Message, Metadata, TaskEvent, TaskState, TaskStatus } from '#protocol';
import { artifactId, unreachable } from '#protocol';
import type { Core } from './core.ts';
import type { Live } from './live.ts';

/** What an output does to its turn: it goes on, or this was its last word. */
export interface Effect {
  readonly events: readonly TaskEvent[];
  readonly ends: boolean;
  /** A direct message: it replaces the task if nobody has heard of the task yet. */
  readonly message?: Message;
}

const ANSWER = 'response';

/** Artifacts of this run that have had a first chunk: further text is appended to them. */
export type Started = Set<string>;

export function effectOf(core: Core, live: Live, output: AgentOutput, started: Started): Effect {
  switch (output.kind) {
    case 'status':
      return going([statusEvent(core, live, 'TASK_STATE_WORKING', output.message, output.metadata)]);
    case 'text':
      return going([chunkEvent(live, { id: output.artifact ?? ANSWER, parts: [{ text: output.text }], ...last(output) }, started)]);
    case 'artifact': {
      const id = output.id ?? core.ids.next();
      const append = output.append ?? false;
      return going([chunkEvent(live, { ...output, id, append }, started)]);
    }
    case 'data':
      return going([chunkEvent(live, { id: core.ids.next(), parts: [{ data: output.data }], append: false, name: output.name }, started)]);
    case 'complete':
      return ending([statusEvent(core, live, 'TASK_STATE_COMPLETED', output.message, output.metadata)]);
    case 'fail':
      return ending([statusEvent(core, live, 'TASK_STATE_FAILED', output.reason)]);
    case 'ask':
      return ending([statusEvent(core, live, 'TASK_STATE_INPUT_REQUIRED', output.question)]);
    case 'auth':
      return ending([statusEvent(core, live, 'TASK_STATE_AUTH_REQUIRED', output.request)]);
    case 'reject':
      return ending([statusEvent(core, live, 'TASK_STATE_REJECTED', output.reason)]);
    case 'message':
      return { events: [], ends: true, message: output.message };
    default:
      return unreachable(output);
  }
}

export function statusEvent(core: Core, live: Live, state: TaskState, message?: Message, metadata?: Metadata): TaskEvent {
  const { id: taskId, contextId } = live.row;
  const said: Message | undefined = message === undefined ? undefined : { ...message, taskId, contextId };
  const timestamp = core.clock.now().toISOString();
  const status: TaskStatus = said === undefined ? { state, timestamp } : { state, message: said, timestamp };
  return { statusUpdate: metadata === undefined ? { taskId, contextId, status } : { taskId, contextId, status, metadata } };
}

interface Chunk {
  readonly id: string;
  readonly parts: Artifact['parts'];
  readonly append?: boolean;
  readonly last?: boolean | undefined;
  readonly name?: string | undefined;
  readonly metadata?: Artifact['metadata'] | undefined;
}

/** The first chunk of an artifact makes it; text without a word on `append` is appended from the second on. */
function chunkEvent(live: Live, chunk: Chunk, started: Started): TaskEvent {
  const append = chunk.append ?? started.has(chunk.id);
  started.add(chunk.id);
  const artifact: Artifact = {
    artifactId: artifactId(chunk.id),
    parts: chunk.parts,
    ...(chunk.name === undefined ? {} : { name: chunk.name }),
    ...(chunk.metadata === undefined ? {} : { metadata: chunk.metadata }),
  };
  return {
    artifactUpdate: {
      taskId: live.row.id,
      contextId: live.row.contextId,
      artifact,
      ...(append ? { append } : {}),
      ...(chunk.last === true ? { lastChunk: true } : {}),
    },
  };
}

function last(output: { readonly last?: boolean }): { last?: boolean } {
  return output.last === true ? { last: true } : {};
}

function going(events: readonly TaskEvent[]): Effect {
  return { events, ends: false };
}

function ending(events: readonly TaskEvent[]): Effect {
  return { events, ends: true };
}
