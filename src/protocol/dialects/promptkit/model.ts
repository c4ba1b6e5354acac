import type { Json, JsonObject, Metadata } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import type { Codec } from '../define.ts';
import type { ReadEnv } from '../dialect.ts';
import type { FlatModel } from '../shared/flat-model.ts';
import { flatMessage, flatModel } from '../shared/flat-model.ts';
import { readFlatPart } from '../shared/flat-part.ts';
import type { FlatVocabulary } from '../shared/flat-vocabulary.ts';
import { attempt, freeform, isRaw, metadataIf } from '../shared/read.ts';

/**
 * PromptKit decodes into Go structs: one member of a wrong type, or one unknown state, makes its client
 * drop the whole response.
 */
const STATES: readonly (readonly [name: string, state: TaskState])[] = [
  ['submitted', 'TASK_STATE_SUBMITTED'],
  ['working', 'TASK_STATE_WORKING'],
  ['completed', 'TASK_STATE_COMPLETED'],
  ['failed', 'TASK_STATE_FAILED'],
  ['canceled', 'TASK_STATE_CANCELED'],
  ['input_required', 'TASK_STATE_INPUT_REQUIRED'],
  ['rejected', 'TASK_STATE_REJECTED'],
  ['auth_required', 'TASK_STATE_AUTH_REQUIRED'],
];

const part: Codec<Part> = { read: readPart, write: writePart };

export const vocabulary: FlatVocabulary = {
  states: new Map(STATES),
  stateNames: {
    ...(Object.fromEntries(STATES.map(([name, state]) => [state, name])) as Record<TaskState, string>),
    TASK_STATE_UNSPECIFIED: 'working', // the task is not finished; nothing more is known
  },
  part,
  message: flatMessage({ part }),
};

export const model: FlatModel = flatModel(vocabulary);

/**
 * Marks data that is no object and therefore travels as text. The official SDKs use the same name for
 * what they wrap for 0.3.
 */
const DATA_MARK = 'data_part_compat';

function readPart(raw: unknown, env: ReadEnv): Part {
  if (isToolAnswer(raw)) return { text: '', metadata: metadataIf(raw.metadata, 'metadata', env) as Metadata };
  const read = readFlatPart(raw, env);
  return read.text !== undefined && read.metadata?.[DATA_MARK] === true ? unmarked(read, read.metadata, env) : read;
}

/**
 * The answer to a client tool's call is a part with metadata only: `tool_call_id` with `tool_result` or
 * `rejected`.
 */
function isToolAnswer(raw: unknown): raw is { readonly metadata: unknown } {
  if (!isRaw(raw) || raw.metadata === undefined || !answersTool(raw.metadata)) return false;
  return [raw.text, raw.raw, raw.url, raw.data].every((content) => content === undefined || content === null);
}

function answersTool(metadata: unknown): boolean {
  return isRaw(metadata) && typeof metadata.tool_call_id === 'string' && metadata.tool_call_id !== '';
}

/** PromptKit's data must be an object. Other values are sent as marked text. */
function writePart(value: Part): Json {
  if (value.data !== undefined && !isRaw(value.data)) return marked(value, value.data);
  if (value.text === '' && answersTool(value.metadata)) {
    const { text: _, ...rest } = value;
    return jsonOf(rest);
  }
  return jsonOf(value);
}

/**
 * PromptKit's `data` is a Go map. A list or a number there makes its client drop the whole response. As
 * text, its tools and models can read the value, and the mark lets our reader restore it.
 */
function marked(value: Part, data: Json): JsonObject {
  const { data: _, ...rest } = value;
  return { ...rest, text: JSON.stringify(data), metadata: { ...value.metadata, [DATA_MARK]: true } };
}

/** Reads marked text back as data. Text that does not parse stays text. */
function unmarked(value: Part, metadata: Metadata, env: ReadEnv): Part {
  const data = attempt(parsed, value.text, env);
  if (!data.ok) return value;
  const { text: _, metadata: __, ...rest } = value;
  const { [DATA_MARK]: ___, ...others } = metadata;
  return { ...rest, data: data.value, ...(Object.keys(others).length === 0 ? {} : { metadata: others }) } as Part;
}

function parsed(text: unknown, env: ReadEnv): Json {
  let data: unknown;
  try {
    data = JSON.parse(text as string);
  } catch {
    data = undefined; // text that another program marked
  }
  return freeform(data, 'data', env);
}
