import type { Message, Part } from '#protocol';
import { getTextFromMessage } from '#protocol';
import type { MockExchange } from './record.ts';

/**
 * Conditions on a message. All given conditions must hold. Without conditions every message matches.
 */
export interface MockMatch {
  /** Must be in the message's text. Upper and lower case are equal. */
  readonly contains?: string;
  /** Must match somewhere in the text. */
  readonly regex?: string | RegExp;
  /** Must be the whole text. */
  readonly equals?: string;
}

/** A response with parts. */
export interface MockReply {
  /** The content of the response. */
  readonly parts: readonly Part[];
}

/** A response that ends the task without a result. */
export interface MockFailure {
  /** Text of the status message. */
  readonly message: string;
  /** Default: `failed`. */
  readonly state?: 'failed' | 'rejected' | 'auth-required';
}

/** One rule: which messages it matches, and the response. The first matching rule is used. */
export interface MockRule {
  /** Matches `metadata.skillId` of the message. */
  readonly skill?: string;
  /** Conditions on the message. Default: every message. */
  readonly match?: MockMatch;
  /** How often the rule is used. Default: always. */
  readonly times?: number;
  /** The pause before the response, in milliseconds. */
  readonly latency?: number;
  /** The pause between two chunks of `stream`, in milliseconds. */
  readonly delay?: number;
  /** Responds with one artifact of these parts. */
  readonly response?: MockReply;
  /** Responds with one artifact of this text. */
  readonly text?: string;
  /** Responds with one artifact in chunks. */
  readonly stream?: readonly string[];
  /** Asks a question. The next message of the task is matched again. */
  readonly ask?: string;
  /** Responds with a message, without a task. */
  readonly message?: string;
  /** Fails, rejects, or asks for a credential. */
  readonly error?: string | MockFailure;
  /** Plays a recording of a real agent. */
  readonly replay?: MockExchange;
}

/** The keys of a rule that are responses. A rule has exactly one of them. */
export const ANSWERS = ['response', 'text', 'stream', 'ask', 'message', 'error', 'replay'] as const;

/** Returns what is wrong with a rule, for its author. */
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

/** Whether a rule matches a message. */
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
