import type { Json, JsonDraft } from '../../json.ts';
import { keysOf, tableOf } from '../../members.ts';
import type { Message } from '../../message.ts';
import type { Part } from '../../parts.ts';
import { TASK_STATES } from '../../states.ts';
import type { Task } from '../../task.ts';
import type { Codec } from '../define.ts';
import type { FlatModel } from '../shared/flat-model.ts';
import { flatMessage, flatModel, taskOfMessage } from '../shared/flat-model.ts';
import { readFlatPart } from '../shared/flat-part.ts';
import type { ContextLimit, FlatVocabulary } from '../shared/flat-vocabulary.ts';
import { writeFileMembers } from '../shared/wire-parts.ts';

/**
 * Cortex keeps JSON as it comes and reads only the members that it knows. So members that 1.0 has and
 * Cortex lacks are written under 1.0's names: Cortex ignores them, and our reader finds them.
 */
const LIMIT: ContextLimit = { contextCharsMax: 256 };
const STATES = keysOf(TASK_STATES);

const part: Codec<Part> = { read: readFlatPart, write: writePart };

export const vocabulary: FlatVocabulary = {
  ...LIMIT,
  states: new Map(STATES.map((state) => [state, state])),
  stateNames: {
    ...tableOf(STATES, (state) => state),
    TASK_STATE_SUBMITTED: 'TASK_STATE_WORKING',
    TASK_STATE_AUTH_REQUIRED: 'TASK_STATE_INPUT_REQUIRED',
  },
  part,
  // A message's context is in its metadata. The reader also accepts it beside the message's id, where other dialects have it.
  message: flatMessage({ ...LIMIT, part, contextInMetadata: true }),
};

export const model: FlatModel = flatModel(vocabulary);

/**
 * Leaves out an empty list of artifacts: Cortex's tools prefer artifacts to the status message even
 * when there are none.
 */
export const task: Codec<Task> = {
  read: model.task.read,
  write: (value) => {
    if (value.artifacts?.length !== 0) return model.task.write(value);
    const { artifacts: _, ...rest } = value;
    return model.task.write(rest);
  },
};

/** A direct message as Cortex itself answers: with the text in the status and in an artifact. */
export function answerTask(message: Message): Task {
  const answer = taskOfMessage(message, `${message.taskId ?? message.messageId}-artifact-0`);
  return { ...answer, status: { ...answer.status, message } };
}

/** Files are nested in `file`; text and data are members of the part itself. */
function writePart(part: Part): Json {
  const out: JsonDraft = {};
  if (part.text !== undefined || part.data !== undefined) {
    if (part.text === undefined) out.data = part.data;
    else out.text = part.text;
    if (part.filename !== undefined) out.filename = part.filename;
    if (part.mediaType !== undefined) out.mediaType = part.mediaType;
  } else {
    out.file = writeFileMembers(part.url === undefined ? { bytes: part.raw } : { uri: part.url }, part);
  }
  if (part.metadata !== undefined) out.metadata = part.metadata;
  return out;
}
