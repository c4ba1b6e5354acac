import type { Agent, AgentCard, AgentOutput, ContextId, Principal, Turn } from '#protocol';
import type { SurfaceOutput } from './a2ui/definition.ts';
import { isSurface, surfaceOutput } from './a2ui/surface.ts';
import type { CardDefinition } from './card.ts';
import { createCard } from './card.ts';
import type { ConversationLimits } from './conversation.ts';
import { conversationReader } from './conversation.ts';
import type { LastWord } from './outputs.ts';
import { ask } from './outputs.ts';
import type { ChosenSkill, SkillDefinition, SkillOutput } from './skills.ts';
import { chooseSkill } from './skills.ts';
import type { AgentTurn } from './turn.ts';
import { agentTurn, unansweredApproval } from './turn.ts';
import type { Returned, Yielded } from './yielded.ts';
import { checkedReturn, checkedYield, iteratorOf } from './yielded.ts';

/** What `defineAgent` takes: the content of the card, and the function that answers messages. */
export interface AgentDefinition<Skills extends readonly SkillDefinition[], Opened> extends CardDefinition {
  /** Skills of the card. A skill with schemas has its input and output checked. */
  readonly skills?: Skills;
  /** What to do with a run that a crash interrupted. Default `fail`; choose another if repeating the run does no harm. */
  readonly recovery?: Agent['recovery'];
  /** What a repeated message id means: see `Agent`. Default `attach`. */
  readonly repeats?: NonNullable<Agent['repeats']>;
  /** The stream of an A2A 0.3 caller stays open while the run waits in `turn.ask`: see `Agent`. Default false. */
  readonly questionsKeepStream?: boolean;
  /** Creates a value for a conversation, once per context: `turn.opened`. It is created again after a restart. */
  readonly open?: (contextId: ContextId) => Opened | Promise<Opened>;
  /** How much of the conversation `turn.conversation()` gives. Default: 100 messages, 262,144 characters. */
  readonly conversation?: ConversationLimits;
  /** The card for authenticated callers. The agent's public card then says that there is one. */
  readonly extendedCard?: (card: AgentCard, principal: Principal) => AgentCard | Promise<AgentCard>;
  /** Answers one message. A generator yields while it works, a function returns its answer. Both may return a final message. */
  readonly run: (turn: AgentTurn<Opened, Skills>) => Running<Skills>;
}

type Running<Skills extends readonly SkillDefinition[]> =
  | AsyncIterable<Yielded, Result<Skills>>
  | Generator<Yielded, Result<Skills>>
  | Promise<Result<Skills> | AsyncIterable<Yielded, Result<Skills>>>
  | Result<Skills>;

/** If there is only one skill and it has an output schema, the compiler checks the returned type. The schema is checked in any case. */
type Result<Skills extends readonly SkillDefinition[]> =
  | SkillOutput<Skills[number]>
  | (Skills extends readonly [{ readonly output: object }] ? LastWord : Returned)
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a generator without a return statement returns void
  | void;

/**
 * Makes an agent from a function.
 *
 * ```ts
 * const shout = defineAgent({ name: 'shout', description: 'Says it louder.', run: (turn) => turn.text.toUpperCase() });
 * ```
 */
export function defineAgent<const Skills extends readonly SkillDefinition[] = readonly [], Opened = undefined>(
  definition: AgentDefinition<Skills, Opened>,
): Agent {
  checkNames(definition);
  const { open, extendedCard, repeats, questionsKeepStream } = definition;
  const takesAll = definition.inputModes === undefined && !(definition.skills ?? []).some(({ inputModes }) => inputModes !== undefined);
  const capabilities = { ...(extendedCard === undefined ? {} : { extendedAgentCard: true }), ...definition.capabilities };
  // Without declared media types the agent takes what it is sent: it may read `turn.files`. The card says so.
  const card = createCard({ ...definition, ...(takesAll ? { inputModes: EVERYTHING } : {}), capabilities });
  return {
    card,
    recovery: definition.recovery ?? 'fail',
    run: (turn) => runTurn(definition, turn),
    ...(takesAll ? { checksInputModes: true as const } : {}),
    ...(repeats === undefined ? {} : { repeats }),
    ...(questionsKeepStream === undefined ? {} : { questionsKeepStream }),
    ...(open === undefined ? {} : { open: async (contextId) => open(contextId) }),
    ...(extendedCard === undefined ? {} : { extendedCard: async (principal) => extendedCard(card, principal) }),
  };
}

const EVERYTHING = ['text/plain', 'application/json', '*/*'];
const NO_SKILL: ChosenSkill = { skill: undefined, input: undefined };

async function* runTurn<Skills extends readonly SkillDefinition[], Opened>(
  definition: AgentDefinition<Skills, Opened>,
  turn: Turn,
): AsyncGenerator<AgentOutput> {
  const unanswered = unansweredApproval(turn);
  if (unanswered !== undefined) {
    yield ask(unanswered.parts);
    return;
  }
  const { skills } = definition;
  const chosen = skills === undefined ? NO_SKILL : await chooseSkill(skills, turn);
  if ('kind' in chosen) {
    yield chosen;
    return;
  }
  const { skill, input } = chosen;
  const conversation = conversationReader(turn, definition.conversation);
  // The engine keeps the value that this agent's `open` returned, and `chooseSkill` returns what the schemas returned.
  const given = agentTurn(turn, { conversation: conversation.read, skill: skill?.id, input }) as unknown as AgentTurn<Opened, Skills>;
  let result: unknown = await definition.run(given);
  const steps = iteratorOf(result);
  if (steps !== undefined) {
    try {
      let step = await steps.next();
      for (; step.done !== true; step = await steps.next()) {
        const note = conversation.takeNote();
        if (note !== undefined) yield note;
        const output = checkedYield(shownTo(turn, step.value), skill);
        yield output instanceof Promise ? await output : output;
      }
      result = step.value;
    } finally {
      // The engine has stopped reading, or the generator threw. In both cases its `finally` blocks run; a finished generator is not
      // affected.
      await steps.return?.();
    }
  }
  const note = conversation.takeNote();
  if (note !== undefined) yield note;
  const checked = checkedReturn(shownTo(turn, result), skill);
  const last = checked instanceof Promise ? await checked : checked;
  if (last !== undefined) yield last;
}

/** A surface in the form that the caller can draw, or as text. Other values stay as they are. */
function shownTo<Value>({ message }: Turn, value: Value): Exclude<Value, SurfaceOutput> | AgentOutput {
  return isSurface(value) ? surfaceOutput(value, message) : (value as Exclude<Value, SurfaceOutput>);
}

/** Errors in the agent's definition are reported at once, not on the first call. */
function checkNames({ name, skills = [] }: CardDefinition): void {
  if (name.trim() === '') throw new TypeError('an agent needs a name');
  const ids = skills.map(({ id }) => id);
  const bad = ids.find((id, at) => id === '' || ids.indexOf(id) !== at);
  if (bad !== undefined) throw new TypeError(bad === '' ? 'a skill needs an id' : `two skills have the id ${bad}`);
}
