import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';
import { isMemberOf } from './members.ts';
import type { Message } from './message.ts';
import { getTextFromMessage } from './message.ts';
import type { DataPart, Part } from './parts.ts';
import { createDataPart, isDataPart } from './parts.ts';

/**
 * One option of a question. No A2A version defines approvals. Parley puts a data part `{options:
 * [...]}` into the question and expects `{optionId}` in the answer, with the member names of the Agent
 * Client Protocol, so that questions of coding agents pass through unchanged.
 */
export interface Choice {
  /** Value to send back. */
  readonly optionId: string;
  /** Label for people. */
  readonly name: string;
  /** What the option means. With it, an answer of `yes` or `no` can choose the option. */
  readonly kind?: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}

/** A string stands for an option whose id and name are equal. */
export type ChoiceLike = string | Choice;

/**
 * The part of a question that lists its options.
 *
 * ```ts
 * const question = createAgentPartsMessage([createTextPart('Deploy?'), createChoicesPart(['yes', 'no'])]);
 * ```
 */
export function createChoicesPart(options: readonly ChoiceLike[]): DataPart {
  const choices = options.map((option): JsonObject => ({ ...(typeof option === 'string' ? { optionId: option, name: option } : option) }));
  return createDataPart({ options: choices });
}

/**
 * The options of a question. Empty for a question without options.
 *
 * ```ts
 * for (const { optionId, name } of getChoicesFromMessage(question)) console.log(optionId, name);
 * ```
 */
export function getChoicesFromMessage(question: Message): readonly Choice[] {
  for (const part of question.parts) {
    const offered = isDataPart(part) ? member(part.data, 'options') : undefined;
    if (Array.isArray(offered)) return offered.map(readChoice).filter((choice) => choice !== undefined);
  }
  return [];
}

/**
 * The option that an answer chooses, or undefined. Approvals fail closed, so only these count: a data
 * part with the option's id; text that equals one option's id or name; yes or no, where exactly one
 * option allows or rejects once. PromptKit's answer to a tool call counts as the text of its result, or
 * as no when it rejects the call.
 */
export function choiceIn(answer: Message, options: readonly Choice[]): string | undefined {
  for (const part of answer.parts) {
    const id = isDataPart(part) ? member(part.data, 'optionId') : undefined;
    if (id !== undefined) return options.find((option) => option.optionId === id)?.optionId;
  }
  const word = wordOf(answer).trim().toLowerCase();
  const named = options.filter((option) => option.optionId.toLowerCase() === word || option.name.toLowerCase() === word);
  if (named.length > 0) return named.length === 1 ? named[0]?.optionId : undefined;
  const wanted = YES_NO.get(word);
  const meant = options.filter((option) => wanted !== undefined && option.kind === wanted);
  return meant.length === 1 ? meant[0]?.optionId : undefined;
}

/**
 * The result of a tool that the caller ran: `tool_result` beside `tool_call_id` in a part's metadata,
 * as PromptKit's client sends it.
 */
export function getToolResultFromMessage({ parts }: Message): Json | undefined {
  for (const { metadata } of parts) {
    if (isToolAnswer(metadata) && metadata['tool_result'] !== undefined) return metadata['tool_result'];
  }
  return undefined;
}

function isToolAnswer(metadata: Part['metadata']): metadata is JsonObject {
  const id = metadata?.['tool_call_id'];
  return typeof id === 'string' && id !== '';
}

/** The answer as text: its own, or the result of a tool that a PromptKit client ran. */
function wordOf(answer: Message): string {
  const text = getTextFromMessage(answer);
  if (text.trim() !== '') return text;
  const isRejected = answer.parts.some(({ metadata }) => isToolAnswer(metadata) && isSet(metadata['rejected']));
  if (isRejected) return 'no';
  const result = getToolResultFromMessage(answer);
  if (typeof result === 'boolean') return result ? 'yes' : 'no';
  return typeof result === 'string' ? result : '';
}

/** PromptKit's `rejected` holds a reason, or just `true`. */
function isSet(rejected: Json | undefined): boolean {
  return rejected !== undefined && rejected !== null && rejected !== false;
}

/** A plain yes allows once. Lasting permission needs the explicit option. */
const YES_NO: ReadonlyMap<string, Choice['kind']> = new Map([
  ['y', 'allow_once'],
  ['yes', 'allow_once'],
  ['n', 'reject_once'],
  ['no', 'reject_once'],
]);

const KINDS: ReadonlySet<NonNullable<Choice['kind']>> = new Set<NonNullable<Choice['kind']>>([
  'allow_once',
  'allow_always',
  'reject_once',
  'reject_always',
]);

function readChoice(value: Json): Choice | undefined {
  const optionId = member(value, 'optionId');
  const name = member(value, 'name') ?? optionId;
  const kind = member(value, 'kind');
  if (typeof optionId !== 'string' || typeof name !== 'string') return undefined;
  return isMemberOf(KINDS, kind) ? { optionId, name, kind } : { optionId, name };
}

function member(value: Json, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
