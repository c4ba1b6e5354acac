import { artifact, ask, auth, createCard, message as direct, fail, reject, type SkillDefinition } from '#agents';
import type { Agent, AgentCard, AgentOutput, Message, Turn } from '#protocol';
import { getTextFromMessage } from '#protocol';
import { pause } from './pause.ts';
import { replayed } from './replay.ts';
import type { MockRule } from './rules.ts';
import { fitsRule, problemWith } from './rules.ts';

/** Options of `mockAgent`. */
export interface MockOptions {
  /** Name of the agent. Default `mock`. */
  readonly name?: string;
  /** Fields of the card. Default skills: those that the rules name. */
  readonly card?: Partial<AgentCard>;
  /** The rules, in order of precedence. */
  readonly responses: readonly MockRule[];
  /** The speed of recordings: 1 plays them as they were, 0 (the default) without pauses. */
  readonly pace?: number;
}

/** A message to the mock, and the rule that matched. */
export interface MockCall {
  /** Text of the message. */
  readonly text: string;
  /** The whole message. */
  readonly message: Message;
  /** Skill that the message named. */
  readonly skill: string | undefined;
  /** The rule's index. Undefined: no rule matched. */
  readonly rule: number | undefined;
}

/** An agent for tests that remembers its calls. */
export interface MockAgent extends Agent {
  /** The messages so far, oldest first. */
  readonly calls: readonly MockCall[];
}

/**
 * An agent that responds by rules, for tests. The first matching rule decides. Without one the task is
 * rejected.
 *
 * ```ts
 * const agent = mockAgent({ responses: [{ match: { contains: 'hello' }, text: 'Hi!' }] });
 * ```
 */
export function mockAgent(options: MockOptions): MockAgent {
  for (const [at, rule] of options.responses.entries()) {
    const problem = problemWith(rule);
    if (problem !== undefined) throw new TypeError(`responses[${at}] ${problem}`);
  }
  const calls: MockCall[] = [];
  const used = new Map<number, number>();
  return {
    calls,
    card: cardOf(options),
    recovery: 'retry',
    run: (turn) => answered(options, turn, (found) => choose(options.responses, found, { calls, used })),
  };
}

interface Memory {
  readonly calls: MockCall[];
  readonly used: Map<number, number>;
}

interface MockRequest {
  readonly message: Message;
  readonly skill: string | undefined;
}

/**
 * Prefers a recording that has not been used, so that recordings of equal messages play in their order.
 */
function choose(rules: readonly MockRule[], { message, skill }: MockRequest, { calls, used }: Memory): MockRule | undefined {
  const fitting = rules.flatMap((rule, at) => (fitsRule(rule, message, skill) && left(rule, used.get(at)) ? [at] : []));
  const [first] = fitting;
  const isReplay = first !== undefined && rules[first]?.replay !== undefined;
  const at = isReplay ? (fitting.find((each) => !used.has(each)) ?? fitting.at(-1)) : first;
  if (at !== undefined) used.set(at, (used.get(at) ?? 0) + 1);
  calls.push({ text: getTextFromMessage(message), message, skill, rule: at });
  return at === undefined ? undefined : rules[at];
}

function left({ times }: MockRule, count = 0): boolean {
  return times === undefined || count < times;
}

async function* answered(
  options: MockOptions,
  turn: Turn,
  find: (request: MockRequest) => MockRule | undefined,
): AsyncGenerator<AgentOutput> {
  const named = turn.message.metadata?.['skillId'] ?? turn.task.metadata?.['skillId'];
  const rule = find({ message: turn.message, skill: typeof named === 'string' ? named : undefined });
  if (rule === undefined) {
    yield reject('no matching rule');
    return;
  }
  await pause(rule.latency ?? 0, turn.signal);
  yield* outputsOf(rule, turn, options.pace ?? 0);
}

/** The outputs of the rule that matched. */
async function* outputsOf(rule: MockRule, turn: Turn, pace: number): AsyncGenerator<AgentOutput> {
  if (rule.response !== undefined) yield artifact({ parts: rule.response.parts });
  else if (rule.text !== undefined) yield artifact({ parts: [{ text: rule.text }] });
  else if (rule.ask !== undefined) yield ask(rule.ask);
  else if (rule.message !== undefined) yield direct(rule.message);
  else if (rule.error !== undefined) yield failureOf(rule.error);
  else if (rule.replay !== undefined) yield* replayed(rule.replay, turn, pace);
  else {
    for (const [at, text] of (rule.stream ?? []).entries()) {
      if (at > 0) await pause(rule.delay ?? 0, turn.signal);
      yield { kind: 'text', text };
    }
  }
}

function failureOf(error: NonNullable<MockRule['error']>): AgentOutput {
  const { message, state = 'failed' } = typeof error === 'string' ? { message: error } : error;
  if (state === 'rejected') return reject(message);
  return state === 'failed' ? fail(message) : auth(message);
}

/** The mock's card. Each skill that a rule names is in it. */
function cardOf({ name, card = {}, responses }: MockOptions): AgentCard {
  const ids = [...new Set(responses.flatMap(({ skill, replay }) => skill ?? replay?.skill ?? []))];
  const skills: readonly SkillDefinition[] = ids.map((id) => ({ id, description: `Responds by rules for ${id}.` }));
  const modes = ['text/plain', 'application/json', '*/*'];
  const made = createCard({
    name: name ?? card.name ?? 'mock',
    description: card.description ?? 'Responds by rules, for tests.',
    ...(skills.length === 0 ? {} : { skills }),
    inputModes: modes,
    outputModes: modes,
  });
  return { ...made, ...card, name: made.name, supportedInterfaces: [] };
}
