import type { AgentOutput, Json, Part } from '#protocol';
import type { LastWord } from './outputs.ts';
import type { SkillDefinition } from './skills.ts';
import { checkOutput } from './skills.ts';

/** What a generator yields: a chunk of the answer's text, parts that are an artifact, or what a helper made. */
export type Yielded = string | Part | readonly Part[] | AgentOutput;

/** What a function returns: the same, or any other JSON, which is data. */
export type Returned = Yielded | Json | undefined;

export function toOutput(value: Yielded): AgentOutput {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if ('kind' in value) return value;
  return { kind: 'artifact', parts: isList(value) ? value : [value] };
}

/** A yielded value, and if it is data what its skill promised. Only data has to be waited for. */
export function checkedYield(value: Yielded, skill: SkillDefinition | undefined): AgentOutput | Promise<AgentOutput> {
  const output = toOutput(value);
  if (output.kind !== 'data' || skill?.output === undefined) return output;
  return checkOutput(skill, output.data).then((data) => ({ ...output, data: data as Json }));
}

/**
 * A returned value. With an output schema it is the output, whatever it looks like, unless it is a last word, which nothing but
 * a helper makes. Without one, what has the shape of parts is parts.
 */
export async function checkedReturn(value: unknown, skill: SkillDefinition | undefined): Promise<AgentOutput | undefined> {
  if (value === undefined) return undefined;
  if (isLastWord(value)) return value;
  if (skill?.output !== undefined) return { kind: 'data', data: (await checkOutput(skill, value)) as Json };
  if (typeof value === 'string' || isOutput(value) || isPart(value)) return toOutput(value);
  if (Array.isArray(value) && value.length > 0 && value.every(isPart)) return toOutput(value);
  return { kind: 'data', data: value as Json };
}

/** A generator, sync or not, or any stream of chunks. Not a list: that is a value. */
export function iteratorOf(value: unknown): AsyncIterator<Yielded, unknown> | Iterator<Yielded, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Symbol.asyncIterator in value) return (value as AsyncIterable<Yielded, unknown>)[Symbol.asyncIterator]();
  return Symbol.iterator in value ? (value as Iterable<Yielded, unknown>)[Symbol.iterator]() : undefined;
}

const LAST_WORDS: Readonly<Record<LastWord['kind'], string>> = {
  ask: 'question',
  auth: 'request',
  reject: 'reason',
  fail: 'reason',
  message: 'message',
};
const KINDS: ReadonlySet<unknown> = new Set<AgentOutput['kind']>(['status', 'text', 'artifact', 'data', 'complete', 'event', 'ask']);
const CONTENT = ['text', 'raw', 'url', 'data'];
const PART: ReadonlySet<string> = new Set([...CONTENT, 'metadata', 'filename', 'mediaType']);

function isLastWord(value: unknown): value is LastWord {
  const record = asRecord(value);
  const member = LAST_WORDS[record?.['kind'] as LastWord['kind']];
  return member !== undefined && asRecord(record?.[member])?.['messageId'] !== undefined;
}

function isOutput(value: unknown): value is AgentOutput {
  return KINDS.has(asRecord(value)?.['kind']);
}

function isPart(value: unknown): value is Part {
  const keys = Object.keys(asRecord(value) ?? {});
  return keys.filter((key) => CONTENT.includes(key)).length === 1 && keys.every((key) => PART.has(key));
}

function isList(value: Part | readonly Part[]): value is readonly Part[] {
  return Array.isArray(value);
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
