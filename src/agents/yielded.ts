import type { AgentOutput, Json, Part } from '#protocol';
import type { SurfaceOutput } from './a2ui/definition.ts';
import type { LastWord } from './outputs.ts';
import type { SkillDefinition } from './skills.ts';
import { checkOutput } from './skills.ts';

/**
 * A value that a generator yields: a chunk of the answer's text, parts that form an artifact, or an
 * output made by a helper.
 */
export type Yielded = string | Part | readonly Part[] | AgentOutput | SurfaceOutput;

/** A value that a function returns: the same, or any other JSON, which becomes data. */
export type Returned = Yielded | Json | undefined;

/** Only untyped code can yield anything else. It gets an error before the value reaches a task. */
function toOutput(value: Exclude<Yielded, SurfaceOutput>): AgentOutput {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (isOutput(value) || isLastWord(value)) return value;
  if (isPart(value)) return { kind: 'artifact', parts: [value] };
  if (isParts(value)) return { kind: 'artifact', parts: value };
  throw new TypeError(
    `an agent yielded ${JSON.stringify(value)?.slice(0, 200)}, which is neither text nor parts; data(value) sends any JSON`,
  );
}

/** Checks a yielded value; data is checked against its skill's schema. Only data has to be awaited. */
export function checkedYield(
  value: Exclude<Yielded, SurfaceOutput>,
  skill: SkillDefinition | undefined,
): AgentOutput | Promise<AgentOutput> {
  const output = toOutput(value);
  if (output.kind !== 'data' || skill?.output === undefined) return output;
  return checkOutput(skill, output.data).then((data) => ({ ...output, data: data as Json }));
}

/**
 * The output for a value that a run returned. Outputs of helpers such as `ask` stay as they are. With an
 * output schema every other value is the result; without one, a value that looks like parts is read as
 * parts.
 */
export function checkedReturn(
  value: unknown,
  skill: SkillDefinition | undefined,
): AgentOutput | undefined | Promise<AgentOutput | undefined> {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && skill?.output === undefined) return { kind: 'text', text: value };
  if (isLastWord(value)) return value;
  if (skill?.output !== undefined) return checkOutput(skill, value).then((data) => ({ kind: 'data', data: data as Json }));
  if (isOutput(value) || isPart(value) || isParts(value)) return toOutput(value);
  return { kind: 'data', data: value as Json };
}

/** A sync or async generator, or any stream of chunks. A list is not one: it is a value. */
export function iteratorOf(value: unknown): AsyncIterator<Yielded, unknown> | Iterator<Yielded, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Symbol.asyncIterator in value) return (value as AsyncIterable<Yielded, unknown>)[Symbol.asyncIterator]();
  return Symbol.iterator in value ? (value as Iterable<Yielded, unknown>)[Symbol.iterator]() : undefined;
}

/** The member in which each output has its message. */
const LAST_WORDS: ReadonlyMap<unknown, string> = new Map<LastWord['kind'], string>([
  ['ask', 'question'],
  ['auth', 'request'],
  ['reject', 'reason'],
  ['fail', 'reason'],
  ['message', 'message'],
]);
const KINDS: ReadonlySet<unknown> = new Set<AgentOutput['kind']>(['status', 'text', 'artifact', 'data', 'complete', 'event', 'ask']);
const CONTENT = ['text', 'raw', 'url', 'data'];
const PART: ReadonlySet<string> = new Set([...CONTENT, 'metadata', 'filename', 'mediaType']);

function isLastWord(value: unknown): value is LastWord {
  const record = asRecord(value);
  const member = LAST_WORDS.get(record?.['kind']);
  return member !== undefined && asRecord(record?.[member])?.['messageId'] !== undefined;
}

function isOutput(value: unknown): value is AgentOutput {
  return KINDS.has(asRecord(value)?.['kind']);
}

function isPart(value: unknown): value is Part {
  const record = asRecord(value) ?? {};
  const keys = Object.keys(record);
  const [content, other] = keys.filter((key) => CONTENT.includes(key));
  if (content === undefined || other !== undefined || !keys.every((key) => PART.has(key))) return false;
  return content === 'data' ? record[content] !== undefined : typeof record[content] === 'string';
}

function isParts(value: unknown): value is readonly Part[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPart);
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
