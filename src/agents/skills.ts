import type {
  AgentExtension,
  AgentSkill,
  DataPart,
  Json,
  JsonObject,
  Message,
  Metadata,
  SecurityRequirement,
  StandardSchema,
  Turn,
} from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, getTextFromMessage, isDataPart } from '#protocol';
import type { LastWord } from './outputs.ts';
import { reject } from './outputs.ts';
import type { Problem } from './schema.ts';
import { check, jsonSchemaOf, sentence } from './schema.ts';

/** A skill of the card, with its input and output schemas. */
export interface SkillDefinition {
  /** Unique within the agent. Callers choose the skill by it. */
  readonly id: string;
  /** What the skill does. Clients and models choose skills by it. */
  readonly description: string;
  /** Default: the id. */
  readonly name?: string;
  /** Keywords. Default: none. */
  readonly tags?: readonly string[];
  /** Prompts that the skill handles. */
  readonly examples?: readonly string[];
  /** Accepted media types, if they differ from the agent's. */
  readonly inputModes?: readonly string[];
  /** Produced media types, if they differ from the agent's. */
  readonly outputModes?: readonly string[];
  /** Overrides the requirements of the card for this skill. */
  readonly securityRequirements?: readonly SecurityRequirement[];
  /**
   * The message's data part, or its text parsed as JSON, must match. `turn.input` is the schema's
   * result.
   */
  readonly input?: StandardSchema;
  /** The returned value, and each `data(...)` that the run yields, must match. */
  readonly output?: StandardSchema;
}

/** Type of a skill's input, after its schema has parsed it. */
export type SkillInput<Skill> = Skill extends { readonly input: StandardSchema<unknown, infer Output> } ? Output : undefined;
/** Type of the value that a skill's run may return. */
export type SkillOutput<Skill> = Skill extends { readonly output: StandardSchema<infer Input, unknown> } ? Input : never;

/**
 * An extension of the card that lists the schemas of the agent's skills. Callers may ignore it:
 * the agent checks every input.
 */
export const SKILL_SCHEMAS = 'urn:parley:a2a:skill-schemas:v1';

/** The skill as the card shows it, without schemas. */
export function publishedSkill(skill: SkillDefinition): AgentSkill {
  const { input: _, output: __, ...published } = skill;
  const modes = {
    ...(skill.input === undefined ? {} : { inputModes: JSON_OR_TEXT }),
    ...(skill.output === undefined ? {} : { outputModes: JSON_ONLY }),
  };
  return { ...modes, ...published, name: skill.name ?? skill.id, tags: skill.tags ?? [skill.id] };
}

const JSON_ONLY = ['application/json'];
const JSON_OR_TEXT = ['application/json', 'text/plain'];

/**
 * `params.skills[id]` is `{ input, output }`, each `{ vendor, schema }`, without `schema` if the
 * library can't convert it.
 */
export function schemaExtension(skills: readonly SkillDefinition[]): AgentExtension | undefined {
  const described = skills.filter(hasSchema);
  if (described.length === 0) return undefined;
  const published = described.map(({ id, input, output }): [string, JsonObject] => [
    id,
    {
      ...(input === undefined ? {} : { input: describe(input, 'input') }),
      ...(output === undefined ? {} : { output: describe(output, 'output') }),
    },
  ]);
  return {
    uri: SKILL_SCHEMAS,
    description: 'What each skill takes and gives, as JSON Schema where it is known.',
    params: { skills: Object.fromEntries(published) },
  };
}

function hasSchema({ input, output }: SkillDefinition): boolean {
  return input !== undefined || output !== undefined;
}

function describe(schema: StandardSchema, side: 'input' | 'output'): JsonObject {
  const known = jsonSchemaOf(schema, side);
  const { vendor } = schema['~standard'];
  return known === undefined ? { vendor } : { vendor, schema: known };
}

/** The skill of a turn and its checked input. */
export interface ChosenSkill {
  readonly skill: SkillDefinition | undefined;
  /** The input schema's result for the message that started the task. */
  readonly input: unknown;
}

/**
 * The skill of a turn: the one that the message names in `metadata.skillId`, as PromptKit's callers do,
 * or the only one. A task keeps its skill and its input, so a later message that answers a question
 * does not repeat them. An unknown name is refused if skills have schemas, because unchecked input
 * would run; otherwise it is ignored.
 */
export async function chooseSkill(skills: readonly SkillDefinition[], turn: Turn): Promise<ChosenSkill | LastWord> {
  const first = turn.history[0] ?? turn.message;
  const named = skillId(first.metadata) ?? skillId(turn.task.metadata) ?? skillId(turn.message.metadata);
  const found = skills.find(({ id }) => id === named);
  if (found === undefined && named !== undefined && skills.some(hasSchema)) return unknownSkill(named, skills);
  const skill = found ?? (skills.length === 1 ? skills[0] : undefined);
  if (skill?.input === undefined) return { skill, input: undefined };
  const checked = await check(skill.input, inputOf(first));
  return checked.ok ? { skill, input: checked.value } : refusal(skill, checked.problems);
}

/**
 * Checks the agent's output against its skill's schema. A mismatch is the agent's error, so the task
 * fails.
 */
export async function checkOutput(skill: SkillDefinition | undefined, value: unknown): Promise<unknown> {
  if (skill?.output === undefined) return value;
  const checked = await check(skill.output, value);
  if (checked.ok) return checked.value;
  throw new A2AError('INVALID_AGENT_RESPONSE', `The agent's output does not fit skill ${skill.id}: ${sentence(checked.problems)}`);
}

function unknownSkill(named: string, skills: readonly SkillDefinition[]): LastWord {
  return reject(`There is no skill ${JSON.stringify(named.slice(0, 100))} here. Known skills: ${skills.map(({ id }) => id).join(', ')}.`);
}

/** As text for people, and as data for programs that can correct themselves. */
function refusal(skill: SkillDefinition, problems: readonly Problem[]): LastWord {
  return reject([{ text: `The input does not fit skill ${skill.id}: ${sentence(problems)}` }, { data: { skillId: skill.id, problems } }]);
}

function skillId(metadata: Metadata | undefined): string | undefined {
  const id = metadata?.['skillId'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The input of a skill: data, or text that is JSON, or the text itself. */
function inputOf(message: Message): unknown {
  const part = message.parts.find((candidate): candidate is DataPart => isDataPart(candidate));
  if (part !== undefined) return part.data;
  const text = getTextFromMessage(message);
  try {
    const value: Json = JSON.parse(text);
    return isPlain(value, DEFAULT_READ_LIMITS.jsonDepthMax) ? value : text;
  } catch {
    return text;
  }
}

/** Dialects check data parts, but not JSON in a text, so it is checked here. */
function isPlain(value: Json, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depthLeft > 0 && !Object.hasOwn(value, '__proto__') && Object.values(value).every((member) => isPlain(member, depthLeft - 1));
}
