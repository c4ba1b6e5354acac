import type { JsonObject } from '../../json.ts';
import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import { TASK_STATES } from '../../states.ts';
import type { Task } from '../../task.ts';
import type { Codec } from '../define.ts';
import type { ReadEnv } from '../dialect.ts';
import type { ContextLimit, FlatModel, FlatWords } from '../shared/flat-model.ts';
import { contextIf, flatMessage, flatModel, taskOfMessage } from '../shared/flat-model.ts';
import { readFlatPart } from '../shared/flat-part.ts';
import { member } from '../shared/read.ts';

/**
 * Cortex holds JSON as it comes and looks only at the members it knows. So whatever 1.0 has and it does not travels under
 * 1.0's own name, beside its members: it passes Cortex by unseen, and a reader of ours finds it.
 */
const LIMIT: ContextLimit = { contextCharsMax: 256 };
const STATES = Object.keys(TASK_STATES) as readonly TaskState[];

const part: Codec<Part> = { read: readFlatPart, write: writePart };
const plain: Codec<Message> = flatMessage(part, LIMIT);

export const words: FlatWords = {
  ...LIMIT,
  states: new Map(STATES.map((state) => [state, state])),
  stateNames: {
    ...(Object.fromEntries(STATES.map((state) => [state, state])) as Record<TaskState, string>),
    TASK_STATE_SUBMITTED: 'TASK_STATE_WORKING',
    TASK_STATE_AUTH_REQUIRED: 'TASK_STATE_INPUT_REQUIRED',
  },
  part,
  message: { read: readMessage, write: writeMessage },
};

export const model: FlatModel = flatModel(words);

/** Without an empty list of artifacts: Cortex's tools prefer artifacts to the status message even when there are none. */
export const task: Codec<Task> = {
  read: model.task.read,
  write: (value) => {
    if (value.artifacts?.length !== 0) return model.task.write(value);
    const { artifacts: _, ...rest } = value;
    return model.task.write(rest);
  },
};

/** A direct message as Cortex itself answers: the text in the status and in an artifact. */
export function answerTask(message: Message): Task {
  const answer = taskOfMessage(message, `${message.taskId ?? message.messageId}-artifact-0`);
  return { ...answer, status: { ...answer.status, message } };
}

function writePart({ raw, url, filename, mediaType, ...rest }: Part): JsonObject {
  if (raw === undefined && url === undefined) {
    return { ...rest, ...(filename === undefined ? {} : { filename }), ...(mediaType === undefined ? {} : { mediaType }) } as JsonObject;
  }
  const file: JsonObject = {
    ...(filename === undefined ? {} : { name: filename }),
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    ...(raw === undefined ? { uri: url } : { bytes: raw }),
  };
  return { ...rest, file } as JsonObject;
}

/** A message's context stands in its metadata; beside them, where everybody else has it, it is understood too. */
function readMessage(raw: unknown, env: ReadEnv): Message {
  const message = plain.read(raw, env);
  const said = message.metadata?.contextId;
  if (message.metadata === undefined || typeof said !== 'string') return message;
  const contextId = member(said, 'metadata', (value) => contextIf(value, env, LIMIT), env);
  const { metadata, ...rest } = message;
  const { contextId: _, ...others } = metadata;
  return {
    ...rest,
    ...(contextId === undefined ? {} : { contextId }),
    ...(Object.keys(others).length === 0 ? {} : { metadata: others }),
  };
}

function writeMessage({ contextId, metadata, ...message }: Message): JsonObject {
  const said = contextId === undefined ? metadata : { ...metadata, contextId };
  return plain.write(said === undefined ? message : { ...message, metadata: said }) as JsonObject;
}
