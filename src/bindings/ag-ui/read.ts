import type { Json, JsonObject, Part, RawObject } from '#protocol';
import { A2AError, isObject } from '#protocol';

/** Words of the user, or the result of a tool that the front end ran. Older messages are not read. */
export type NewMessage =
  | { readonly role: 'user'; readonly id: string; readonly parts: readonly Part[] }
  | { readonly role: 'tool'; readonly id: string; readonly toolCallId: string; readonly content: string; readonly error?: string };

/** The answer to an interrupt. */
export interface Resume {
  readonly interruptId: string;
  readonly isCancelled: boolean;
  readonly payload: Json | undefined;
}

/** How one front end wants to be treated: `forwardedProps.a2a`. */
export interface RunPreferences {
  /** `text`: a question is a text of the assistant and a successful run, for front ends without interrupts. */
  readonly questions?: 'interrupt' | 'text';
  /** What happens to the task when the front end closes the connection. */
  readonly onHangUp?: 'continue' | 'cancel';
}

/** The members of `RunAgentInput` that an agent can use (docs.ag-ui.com, AG-UI 1.0). */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  /** The client names a protocol version, so it knows what 1.0 added. */
  readonly isCurrent: boolean;
  /** What came after the last message of the assistant. */
  readonly messages: readonly NewMessage[];
  readonly resume: readonly Resume[];
  /** The front end's state, without what this endpoint wrote into it. */
  readonly state: JsonObject;
  /** Names of the tools that the front end can run. */
  readonly tools: ReadonlySet<string>;
  readonly preferences: RunPreferences;
  /** A click on an A2UI surface: `forwardedProps.a2uiAction.userAction`. */
  readonly action: JsonObject | undefined;
  /** What A2A has no member for. The agent finds it in the metadata of its message. */
  readonly beside: JsonObject;
}

/** The members of the state that this endpoint writes. */
const OWN_STATE: ReadonlySet<string> = new Set(['task', 'artifacts']);

/** Checks and reads a request. Throws INVALID_PARAMS with the wrong member in `field`. */
export function readRunInput(raw: unknown, idCharsMax: number): RunInput {
  const body = objectAt(raw, 'the body');
  const { messages = [], tools = [], context = [], resume = [] } = body;
  const props: RawObject = isObject(body['forwardedProps']) ? body['forwardedProps'] : {};
  const state: RawObject = isObject(body['state']) ? body['state'] : {};
  const ownState = Object.fromEntries(Object.entries(state).filter(([name]) => !OWN_STATE.has(name))) as JsonObject;
  const offered = listAt(tools, 'tools').map((tool, at) => objectAt(tool, `tools[${at}]`));
  const { a2a, a2uiAction, ...forwarded } = props;
  const action = isObject(a2uiAction) ? a2uiAction['userAction'] : undefined;
  return {
    threadId: idAt(body['threadId'], 'threadId', idCharsMax),
    runId: idAt(body['runId'], 'runId', idCharsMax),
    isCurrent: typeof body['protocolVersion'] === 'string',
    messages: newMessages(listAt(messages, 'messages'), idCharsMax),
    resume: listAt(resume ?? [], 'resume').map(readResume),
    state: ownState,
    tools: new Set(offered.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))),
    preferences: readPreferences(a2a),
    action: isObject(action) ? (action as JsonObject) : undefined,
    beside: besideOf({ tools: offered, context: listAt(context, 'context'), state: ownState, forwardedProps: forwarded }),
  };
}

/** Leaves out what is empty: most front ends send empty lists. */
function besideOf(all: Readonly<Record<string, readonly unknown[] | RawObject>>): JsonObject {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => Object.keys(value).length > 0)) as JsonObject;
}

function readPreferences(value: unknown): RunPreferences {
  if (value === undefined) return {};
  const { questions, onHangUp } = objectAt(value, 'forwardedProps.a2a');
  if (questions !== undefined && questions !== 'interrupt' && questions !== 'text') {
    throw wrong('forwardedProps.a2a.questions', 'must be interrupt or text');
  }
  if (onHangUp !== undefined && onHangUp !== 'continue' && onHangUp !== 'cancel') {
    throw wrong('forwardedProps.a2a.onHangUp', 'must be continue or cancel');
  }
  return { ...(questions === undefined ? {} : { questions }), ...(onHangUp === undefined ? {} : { onHangUp }) };
}

function readResume(value: unknown, at: number): Resume {
  const { interruptId, status, payload } = objectAt(value, `resume[${at}]`);
  if (typeof interruptId !== 'string') throw wrong(`resume[${at}].interruptId`, 'must be text');
  if (status !== 'resolved' && status !== 'cancelled') throw wrong(`resume[${at}].status`, 'must be resolved or cancelled');
  return { interruptId, isCancelled: status === 'cancelled', payload: payload as Json | undefined };
}

/** Roles that stand between messages without ending what is new. */
const SKIPPED: ReadonlySet<unknown> = new Set(['activity', 'reasoning', 'system', 'developer']);

/** Each request repeats the whole thread. Only what follows the last message of the assistant is new, and only that is read. */
function newMessages(all: readonly unknown[], idCharsMax: number): readonly NewMessage[] {
  const found: NewMessage[] = [];
  for (let at = all.length - 1; at >= 0; at -= 1) {
    const where = `messages[${at}]`;
    const message = objectAt(all[at], where);
    const { role } = message;
    if (SKIPPED.has(role)) continue;
    if (role === 'assistant') break;
    const id = idAt(message['id'], `${where}.id`, idCharsMax);
    if (role === 'user') found.unshift({ role, id, parts: readContent(message['content'], `${where}.content`) });
    else if (role === 'tool') found.unshift({ ...readToolMessage(message, where), role, id });
    else throw wrong(`${where}.role`, 'must be user, assistant, system, developer, tool, reasoning or activity');
  }
  return found;
}

function readToolMessage(message: RawObject, where: string): { toolCallId: string; content: string; error?: string } {
  const { toolCallId, content, error } = message;
  if (typeof toolCallId !== 'string') throw wrong(`${where}.toolCallId`, 'must be text');
  const told = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  return { toolCallId, content: told, ...(typeof error === 'string' ? { error } : {}) };
}

function readContent(content: unknown, where: string): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return listAt(content, where).map((part, at) => readPart(objectAt(part, `${where}[${at}]`), `${where}[${at}]`));
}

const FILES: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'document']);

function readPart(part: RawObject, where: string): Part {
  const { type, text, source } = part;
  if (type === 'text') {
    if (typeof text !== 'string') throw wrong(`${where}.text`, 'must be text');
    return { text };
  }
  // `binary` is the form of clients before 0.0.45.
  if (type === 'binary') return filePart(part, { value: part['data'] ?? part['url'], isUrl: part['data'] === undefined }, where);
  if (!FILES.has(type)) throw wrong(`${where}.type`, 'must be text, image, audio, video, document or binary');
  const from = objectAt(source, `${where}.source`);
  if (from['type'] === 'file') throw wrong(`${where}.source.type`, 'must be data or url: an agent has no access to files of a provider');
  if (from['type'] !== 'data' && from['type'] !== 'url') throw wrong(`${where}.source.type`, 'must be data or url');
  const metadata = isObject(part['metadata']) ? part['metadata'] : {};
  return filePart({ ...metadata, ...from }, { value: from['value'], isUrl: from['type'] === 'url' }, `${where}.source`);
}

function filePart(from: RawObject, { value, isUrl }: { readonly value: unknown; readonly isUrl: boolean }, where: string): Part {
  if (typeof value !== 'string') throw wrong(`${where}.value`, 'must be text');
  if (isUrl && !/^https?:\/\//.test(value)) throw wrong(`${where}.value`, 'must be an http or https URL');
  if (!isUrl && !/^[A-Za-z0-9+/=]*$/.test(value)) throw wrong(`${where}.value`, 'must be base64');
  const { mimeType, filename } = from;
  const about = {
    ...(typeof mimeType === 'string' ? { mediaType: mimeType } : {}),
    ...(typeof filename === 'string' ? { filename } : {}),
  };
  return isUrl ? { url: value, ...about } : { raw: value, ...about };
}

function idAt(value: unknown, where: string, charsMax: number): string {
  if (typeof value !== 'string' || value === '') throw wrong(where, 'must be text');
  if (value.length > charsMax) throw wrong(where, `must have at most ${charsMax} characters`);
  return value;
}

function listAt(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(where, 'must be a list');
  return value;
}

function objectAt(value: unknown, where: string): RawObject {
  if (!isObject(value)) throw wrong(where, 'must be an object');
  return value;
}

function wrong(field: string, problem: string): A2AError {
  return new A2AError('INVALID_PARAMS', `${field} ${problem}`, { field });
}
