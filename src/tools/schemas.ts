import { SKILL_SCHEMAS } from '#agents';
import type { AgentCard, AgentSkill, Json, JsonObject } from '#protocol';
import { unreachable } from '#protocol';
import type { NamingScheme } from './names.ts';

const text = (description: string): JsonObject => ({ type: 'string', description });

/** So that a question can be answered and a conversation go on. */
const GOING_ON = {
  contextId: text('The conversation to go on with, from an earlier result.'),
  taskId: text('The task that asked a question, when this is its answer.'),
} as const;

const MEDIA: readonly { readonly family: string; readonly members: JsonObject }[] = [
  {
    family: 'image/',
    members: { image_url: text('Address of an image.'), image_data: text('An image, base64-encoded.') },
  },
  { family: 'audio/', members: { audio_data: text('A recording, base64-encoded.') } },
];

export interface Described {
  readonly card: AgentCard;
  readonly skill: AgentSkill | undefined;
}

/** What a tool takes, as JSON Schema: what its skill publishes, or what its input modes allow, under the names of the scheme. */
export function inputSchema(scheme: NamingScheme, described: Described): JsonObject {
  switch (scheme) {
    case 'a2a__agent__skill':
      return (
        skillInput(described) ?? object({ query: text('What is asked of the agent.'), ...mediaFor(described), ...GOING_ON }, ['query'])
      );
    case 'a2a_agent':
      return object({ message: text('The message to send to the agent.'), ...GOING_ON }, ['message']);
    case 'peer_agent':
      return object({ task_description: text('What the agent is to do, in full.'), artifacts: ARTIFACTS, ...GOING_ON }, [
        'task_description',
      ]);
    default:
      return unreachable(scheme);
  }
}

const ARTIFACTS: JsonObject = {
  type: 'array',
  description: 'Artifacts that the agent is to look at.',
  items: object({ filename: { type: 'string' }, version: { type: 'integer' } }, ['filename']),
};

export const OUTPUT_SCHEMA: JsonObject = object(
  {
    response: text('What the agent said.'),
    state: text('How the task stands.'),
    taskId: text('The task, for an answer to its question.'),
    contextId: text('The conversation, to go on with it.'),
    media_url: text('Address of the first file of the answer.'),
    media_type: text('Its media type.'),
    data: { description: 'Structured data of the answer.' },
  },
  ['response'],
);

/** The skill's own schema, if it publishes one: its tool takes that, and the agent gets it as data. */
export function skillInput({ card, skill }: Described): JsonObject | undefined {
  const published = (card.capabilities.extensions ?? []).find(({ uri }) => uri === SKILL_SCHEMAS)?.params?.['skills'];
  const schema = member(member(member(published, skill?.id ?? ''), 'input'), 'schema') ?? meshInput(card);
  return isObject(schema) && schema['type'] === 'object' ? schema : undefined;
}

/** SAM's agents have one schema for all that they do. */
function meshInput({ capabilities }: AgentCard): Json | undefined {
  const found = (capabilities.extensions ?? []).find(({ uri }) => uri === 'https://solace.com/a2a/extensions/sam/schemas');
  return found?.params?.['input_schema'];
}

function mediaFor({ card, skill }: Described): JsonObject {
  const modes = skill?.inputModes ?? card.defaultInputModes;
  const found = MEDIA.filter(({ family }) => modes.some((mode) => mode.startsWith(family)));
  return Object.assign({}, ...found.map(({ members }) => members));
}

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required };
}

function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
