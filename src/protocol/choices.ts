import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';
import { isMemberOf } from './members.ts';
import type { Message } from './message.ts';
import { getTextFromMessage } from './message.ts';
import type { DataPart, Part } from './parts.ts';
import { createDataPart, isDataPart } from './parts.ts';

/**
 * One choice that a question offers. No A2A version has a form for approvals; ours is a data part `{options: [...]}` in the question and
 * `{optionId}` in the answer, spelled as the Agent Client Protocol spells them, so that a coding agent's question passes through.
 */
export interface Choice {
  readonly optionId: string;
  /** For people. */
  readonly name: string;
  /** Lets a plain yes or no choose. */
  readonly kind?: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}

/** A word alone is id and name in one. */
export type ChoiceLike = string | Choice;

export function createChoicesPart(options: readonly ChoiceLike[]): DataPart {
  const choices = options.map((option): JsonObject => ({ ...(typeof option === 'string' ? { optionId: option, name: option } : option) }));
  return createDataPart({ options: choices });
}

/** The choices that a question offered; none if it offered none. */
export function getChoicesFromMessage(question: Message): readonly Choice[] {
  for (const part of question.parts) {
    const offered = isDataPart(part) ? member(part.data, 'options') : undefined;
    if (Array.isArray(offered)) return offered.map(readChoice).filter((choice) => choice !== undefined);
  }
  return [];
}

/**
 * The choice that an answer makes. Approvals fail closed: only a data part with the option's id, or text that is an option's id or
 * name, or yes or no where the question has one option that allows and one that rejects. PromptKit's answer to a tool call counts as the
 * text of its result, or as no if it rejects the call. Anything else has chosen nothing.
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

/** The result of a tool that the caller ran: a part's `tool_result` beside its `tool_call_id`, as PromptKit's client sends it. */
export function getToolResultFromMessage({ parts }: Message): Json | undefined {
  return parts.map(({ metadata }) => (isToolAnswer(metadata) ? metadata['tool_result'] : undefined)).find((result) => result !== undefined);
}

function isToolAnswer(metadata: Part['metadata']): metadata is JsonObject {
  const id = metadata?.['tool_call_id'];
  return typeof id === 'string' && id !== '';
}

function wordOf(answer: Message): string {
  const text = getTextFromMessage(answer);
  if (text.trim() !== '') return text;
  const isRejected = answer.parts.some(({ metadata }) => isToolAnswer(metadata) && isSet(metadata['rejected']));
  if (isRejected) return 'no';
  const result = getToolResultFromMessage(answer);
  if (typeof result === 'boolean') return result ? 'yes' : 'no';
  return typeof result === 'string' ? result : '';
}

/** The reason, or just `true`. */
function isSet(rejected: Json | undefined): boolean {
  return rejected !== undefined && rejected !== null && rejected !== false;
}

/** A bare yes is for this once: nobody gives a lasting permission by one letter. */
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
