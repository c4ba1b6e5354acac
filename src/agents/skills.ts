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

/** A skill of the card, and what it takes and gives. */
export interface SkillDefinition {
  readonly id: string;
  readonly description: string;
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly examples?: readonly string[];
  readonly inputModes?: readonly string[];
  readonly outputModes?: readonly string[];
  readonly securityRequirements?: readonly SecurityRequirement[];
  /** The message's data part, or its text read as JSON, must fit; `turn.input` is what the schema makes of it. */
  readonly input?: StandardSchema;
  /** What the run returns, and each `data(...)` that it yields, must fit. */
  readonly output?: StandardSchema;
}

export type SkillInput<Skill> = Skill extends { readonly input: StandardSchema<unknown, infer Output> } ? Output : undefined;
export type SkillOutput<Skill> = Skill extends { readonly output: StandardSchema<infer Input, unknown> } ? Input : never;

/** Names the schemas of an agent's skills on its card. Not required: a caller that ignores it gets its input checked all the same. */
export const SKILL_SCHEMAS = 'urn:parley:a2a:skill-schemas:v1';

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

/** `params.skills[id]` is `{ input, output }`, each `{ vendor, schema }`, or without `schema` if its library can't tell. */
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

export interface ChosenSkill {
  readonly skill: SkillDefinition | undefined;
  /** What its input schema made of the message that began the task. */
  readonly input: unknown;
}

/**
 * The skill that a turn is for: the one that the message names in `metadata.skillId`, as PromptKit's callers do, or the only one
 * there is. A task keeps its skill and its input: a later message in it answers a question, and need not repeat them. A name that no
 * skill has is refused where skills have schemas, since something would run unchecked; elsewhere it is a hint that did not help.
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

/** What the agent gives, as its skill promised it. That it does not fit is the agent's fault, so the task fails. */
export async function checkOutput(skill: SkillDefinition | undefined, value: unknown): Promise<unknown> {
  if (skill?.output === undefined) return value;
  const checked = await check(skill.output, value);
  if (checked.ok) return checked.value;
  throw new A2AError('INVALID_AGENT_RESPONSE', `The agent's output does not fit skill ${skill.id}: ${sentence(checked.problems)}`);
}

function unknownSkill(named: string, skills: readonly SkillDefinition[]): LastWord {
  return reject(`There is no skill ${JSON.stringify(named.slice(0, 100))} here. There is: ${skills.map(({ id }) => id).join(', ')}.`);
}

/** In words for people, and as data for programs, which can correct themselves. */
function refusal(skill: SkillDefinition, problems: readonly Problem[]): LastWord {
  return reject([{ text: `The input does not fit skill ${skill.id}: ${sentence(problems)}` }, { data: { skillId: skill.id, problems } }]);
}

function skillId(metadata: Metadata | undefined): string | undefined {
  const id = metadata?.['skillId'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

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

/** What a dialect checks of a data part, it can't check of a text. */
function isPlain(value: Json, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depthLeft > 0 && !Object.hasOwn(value, '__proto__') && Object.values(value).every((member) => isPlain(member, depthLeft - 1));
}
