import type { Agent, AgentCard, AgentOutput, ContextId, Principal, Turn } from '#protocol';
import type { CardDefinition } from './card.ts';
import { createCard } from './card.ts';
import type { LastWord } from './outputs.ts';
import { ask } from './outputs.ts';
import type { SkillDefinition, SkillOutput } from './skills.ts';
import { chooseSkill } from './skills.ts';
import type { AgentTurn } from './turn.ts';
import { baseTurn, unansweredApproval } from './turn.ts';
import type { Returned, Yielded } from './yielded.ts';
import { checkedReturn, checkedYield, iteratorOf } from './yielded.ts';

export interface AgentDefinition<Skills extends readonly SkillDefinition[], Conversation> extends CardDefinition {
  readonly skills?: Skills;
  /** What happens to a run that a crash cut off. `fail`, unless the agent says that repeating it does no harm. */
  readonly recovery?: Agent['recovery'];
  /** What a message id that comes again means: see `Agent`. Default `attach`. */
  readonly repeats?: NonNullable<Agent['repeats']>;
  /** Makes the state of a conversation, once for each context: `turn.conversation`. It is made anew after a restart. */
  readonly open?: (contextId: ContextId) => Conversation | Promise<Conversation>;
  /** The card for callers who have shown who they are; the agent then says that it has one. */
  readonly extendedCard?: (card: AgentCard, principal: Principal) => AgentCard | Promise<AgentCard>;
  /** Answers one message. A generator yields as it goes, a function returns its answer; both may return a last word. */
  readonly run: (turn: AgentTurn<Conversation, Skills>) => Running<Skills>;
}

type Running<Skills extends readonly SkillDefinition[]> =
  | AsyncIterable<Yielded, Result<Skills>>
  | Generator<Yielded, Result<Skills>>
  | Promise<Result<Skills> | AsyncIterable<Yielded, Result<Skills>>>
  | Result<Skills>;

/** With an output schema that is the only one, the compiler checks what is returned; the schema does in any case. */
type Result<Skills extends readonly SkillDefinition[]> =
  | SkillOutput<Skills[number]>
  | (Skills extends readonly [{ readonly output: object }] ? LastWord : Returned)
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a generator without a return statement returns void
  | void;

/**
 * An agent from a function.
 *
 * ```ts
 * const shout = defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn) => turn.text.toUpperCase() });
 * ```
 */
export function defineAgent<const Skills extends readonly SkillDefinition[] = readonly [], Conversation = undefined>(
  definition: AgentDefinition<Skills, Conversation>,
): Agent {
  checkNames(definition);
  const { open, extendedCard, repeats } = definition;
  const capabilities = { ...(extendedCard === undefined ? {} : { extendedAgentCard: true }), ...definition.capabilities };
  const card = createCard({ ...definition, capabilities });
  return {
    card,
    recovery: definition.recovery ?? 'fail',
    run: (turn) => runTurn(definition, turn),
    ...(repeats === undefined ? {} : { repeats }),
    ...(open === undefined ? {} : { open: async (contextId) => open(contextId) }),
    ...(extendedCard === undefined ? {} : { extendedCard: async (principal) => extendedCard(card, principal) }),
  };
}

async function* runTurn<Skills extends readonly SkillDefinition[], Conversation>(
  definition: AgentDefinition<Skills, Conversation>,
  turn: Turn,
): AsyncGenerator<AgentOutput> {
  const unanswered = unansweredApproval(turn);
  if (unanswered !== undefined) {
    yield ask(unanswered.parts);
    return;
  }
  const chosen = await chooseSkill(definition.skills ?? [], turn);
  if ('kind' in chosen) {
    yield chosen;
    return;
  }
  const { skill, input } = chosen;
  // What the engine keeps for a context is what this agent's own `open` made, and `chooseSkill` gives what the schemas gave.
  const given = { ...baseTurn(turn), skill: skill?.id, input } as unknown as AgentTurn<Conversation, Skills>;
  let result: unknown = await definition.run(given);
  const steps = iteratorOf(result);
  if (steps !== undefined) {
    try {
      let step = await steps.next();
      for (; step.done !== true; step = await steps.next()) {
        const output = checkedYield(step.value, skill);
        yield output instanceof Promise ? await output : output;
      }
      result = step.value;
    } finally {
      // The engine has stopped listening, or it threw: either way its own `finally` blocks run. One that is done takes no harm.
      await steps.return?.();
    }
  }
  const last = await checkedReturn(result, skill);
  if (last !== undefined) yield last;
}

/** Faults of whoever writes the agent: told at once, not when the first caller comes. */
function checkNames({ name, skills = [] }: CardDefinition): void {
  if (name.trim() === '') throw new TypeError('an agent needs a name');
  const ids = skills.map(({ id }) => id);
  const bad = ids.find((id, at) => id === '' || ids.indexOf(id) !== at);
  if (bad !== undefined) throw new TypeError(bad === '' ? 'a skill needs an id' : `two skills have the id ${bad}`);
}
