import type { Json, JsonObject } from '#protocol';
import { stripAnsi } from '../process/ansi.ts';
import { isJsonObject, objectAt, objectIn, objectsAt, textAt } from '../process/json-line.ts';
import { clip } from '../run/clip.ts';
import type { RunEvent } from '../run/events.ts';

const NOTE_CHARACTERS = 500;

/** One line of a program that writes objects. With a path, the answer is only there. */
export function readLine(line: string, answerPath: string | undefined): readonly RunEvent[] {
  if (line.trim() === '') return [];
  const object = objectIn(line);
  if (object === undefined) return [{ kind: 'note', text: clip(stripAnsi(line), NOTE_CHARACTERS) }];
  if (answerPath === undefined) return knownForm(object) ?? [{ kind: 'note', text: clip(stripAnsi(line), NOTE_CHARACTERS) }];
  const found = valueAt(object, answerPath);
  if (found === undefined || found === null) return [];
  return [{ kind: 'text', text: typeof found === 'string' ? found : JSON.stringify(found) }];
}

/** The forms that coding-agent-a2a reads from any program, and the plain ones that people write. */
function knownForm(object: JsonObject): readonly RunEvent[] | undefined {
  const type = textAt(object, 'type') ?? textAt(object, 'kind') ?? textAt(object, 'event');
  switch (type) {
    case 'system':
    case 'init':
      return [
        { kind: 'init', ...optional('sessionId', object['session_id'] ?? object['sessionId']), ...optional('model', object['model']) },
      ];
    case 'assistant':
    case 'message':
    case 'text':
    case 'thinking':
    case 'delta':
    case 'chunk':
      return textOf(object) === undefined ? [] : [{ kind: 'text', text: textOf(object) ?? '' }];
    case 'tool_use':
      return [
        {
          ...{ kind: 'tool_use', id: textAt(object, 'id') ?? '', tool: textAt(object, 'tool') ?? textAt(object, 'name') ?? 'tool' },
          ...(object['input'] === undefined ? {} : { input: object['input'] }),
        },
      ];
    case 'tool_result':
      return [
        {
          ...{ kind: 'tool_result', id: textAt(object, 'id') ?? textAt(object, 'tool_use_id') ?? '' },
          ...{ output: textOf(object) ?? '', isError: object['is_error'] === true || object['isError'] === true },
        },
      ];
    case 'result':
    case 'done':
      return [{ kind: 'done', ...optional('summary', object['result'] ?? object['summary']) }];
    case 'error':
      return [{ kind: 'error', message: textAt(object, 'message') ?? textAt(object, 'error') ?? 'the agent reported an error' }];
    case undefined: {
      const text = textOf(object);
      return text === undefined ? undefined : [{ kind: 'text', text }];
    }
    default:
      return undefined;
  }
}

/** The members in which programs put their text: a string, or a message of blocks. */
function textOf(object: JsonObject): string | undefined {
  for (const name of ['text', 'content', 'delta', 'answer', 'response', 'output', 'message']) {
    const text = textAt(object, name);
    if (text !== undefined) return text;
  }
  const blocks = [...objectsAt(object, 'content'), ...objectsAt(objectAt(object, 'message'), 'content')];
  const texts = blocks.map((block) => textAt(block, 'text')).filter((text) => text !== undefined);
  return texts.length === 0 ? textAt(objectAt(object, 'message'), 'content') : texts.join('');
}

function optional<Name extends string>(name: Name, value: Json | undefined): { readonly [Key in Name]?: string } {
  return (typeof value === 'string' ? { [name]: value } : {}) as { readonly [Key in Name]?: string };
}

/** The value at `a.b[0].c`. */
export function valueAt(value: Json, path: string): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path.split(/[.[\]]/).filter((each) => each !== '' && each !== '$')) {
    if (Array.isArray(at)) at = (at as readonly Json[])[Number(step)];
    else at = isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  }
  return at;
}
