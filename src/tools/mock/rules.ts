import type { Message, Part } from '#protocol';
import { getTextFromMessage } from '#protocol';
import type { Exchange } from './record.ts';

/** What a message must be like. Everything that is said must be so; nothing said fits all. */
export interface MockMatch {
  /** In the message's text, whatever the case. */
  readonly contains?: string;
  readonly regex?: string | RegExp;
  readonly equals?: string;
}

export interface MockReply {
  readonly parts: readonly Part[];
}

export interface MockFailure {
  readonly message: string;
  /** `failed` unless said. */
  readonly state?: 'failed' | 'rejected' | 'auth-required';
}

/** One rule: when, and what is answered. The first that fits is taken. */
export interface MockRule {
  /** As the message names it in `metadata.skillId`. */
  readonly skill?: string;
  readonly match?: MockMatch;
  /** Taken so many times, then no more. */
  readonly times?: number;
  /** Before the first word, in milliseconds. */
  readonly latency?: number;
  /** Between two chunks of `stream`. */
  readonly delay?: number;
  /** One artifact with these parts. */
  readonly response?: MockReply;
  /** The same, for one text. */
  readonly text?: string;
  /** Chunks of one artifact. */
  readonly stream?: readonly string[];
  /** A question; the next message of the task is matched anew. */
  readonly ask?: string;
  /** An answer without a task. */
  readonly message?: string;
  readonly error?: string | MockFailure;
  /** What was recorded of a real agent. */
  readonly replay?: Exchange;
}

/** The members of a rule that say what is answered: one of them, and no other. */
export const ANSWERS = ['response', 'text', 'stream', 'ask', 'message', 'error', 'replay'] as const;

/** Says what is wrong with a rule, in words for whoever wrote it. */
export function problemWith(rule: MockRule): string | undefined {
  const given = ANSWERS.filter((name) => rule[name] !== undefined);
  if (given.length !== 1)
    return given.length === 0 ? `has no answer; give one of ${ANSWERS.join(', ')}` : `has ${given.join(' and ')}; give one`;
  const { regex } = rule.match ?? {};
  if (typeof regex !== 'string') return undefined;
  try {
    new RegExp(regex);
    return undefined;
  } catch (thrown) {
    return `match.regex: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

export function fitsRule({ skill, match = {}, replay }: MockRule, message: Message, skillId: string | undefined): boolean {
  if (skill !== undefined && skill !== skillId) return false;
  if (replay !== undefined) return JSON.stringify(replay.parts) === JSON.stringify(message.parts);
  const text = getTextFromMessage(message);
  const { contains, regex, equals } = match;
  if (contains !== undefined && !text.toLowerCase().includes(contains.toLowerCase())) return false;
  if (equals !== undefined && text !== equals) return false;
  return (
    regex === undefined ||
    (typeof regex === 'string' ? new RegExp(regex) : new RegExp(regex.source, regex.flags.replace(/[gy]/g, ''))).test(text)
  );
}
