import { SKILL_SCHEMAS } from '#agents';
import type { AgentCard, AgentSkill, Json, JsonObject } from '#protocol';
import { isObject, unreachable } from '#protocol';
import type { NamingScheme } from './names.ts';

const text = (description: string): JsonObject => ({ type: 'string', description });

/** For answering a question and continuing a conversation. */
const CONTINUATION = {
  contextId: text('The conversation to continue, from an earlier result.'),
  taskId: text('The task that asked a question, when this call answers it.'),
} as const;

const MEDIA: readonly { readonly family: string; readonly members: JsonObject }[] = [
  {
    family: 'image/',
    members: { image_url: text('Address of an image.'), image_data: text('An image, base64-encoded.') },
  },
  { family: 'audio/', members: { audio_data: text('A recording, base64-encoded.') } },
];

/** What a tool is made of. */
export interface ToolSource {
  readonly card: AgentCard;
  readonly skill: AgentSkill | undefined;
}

/**
 * The JSON Schema of a tool's input: the skill's own, or one made from its input modes with the
 * scheme's names.
 */
export function inputSchema(scheme: NamingScheme, described: ToolSource): JsonObject {
  switch (scheme) {
    case 'a2a__agent__skill':
      return (
        skillInput(described) ?? object({ query: text('The request to the agent.'), ...mediaFor(described), ...CONTINUATION }, ['query'])
      );
    case 'a2a_agent':
      return object({ message: text('The message to send to the agent.'), ...CONTINUATION }, ['message']);
    case 'peer_agent':
      return object(
        {
          task_description: text('What the agent should do, with everything that it needs to know.'),
          artifacts: ARTIFACTS,
          ...CONTINUATION,
        },
        ['task_description'],
      );
    default:
      return unreachable(scheme);
  }
}

const ARTIFACTS: JsonObject = {
  type: 'array',
  description: 'Artifacts that the agent should use.',
  items: object({ filename: { type: 'string' }, version: { type: 'integer' } }, ['filename']),
};

/** The JSON Schema of every tool's result. */
export const OUTPUT_SCHEMA: JsonObject = object(
  {
    response: text('The agent’s response.'),
    state: text('The state of the task.'),
    taskId: text('The task, to answer its question.'),
    contextId: text('The conversation, to continue it.'),
    media_url: text('URL of the first file of the response.'),
    media_type: text('Its media type.'),
    data: { description: 'Structured data of the response.' },
  },
  ['response'],
);

/** The schema that the skill publishes, if any. The agent then gets the arguments as data. */
export function skillInput({ card, skill }: ToolSource): JsonObject | undefined {
  const published = (card.capabilities.extensions ?? []).find(({ uri }) => uri === SKILL_SCHEMAS)?.params?.['skills'];
  const schema = member(member(member(published, skill?.id ?? ''), 'input'), 'schema') ?? meshInput(card);
  return isObject(schema) && schema['type'] === 'object' ? schema : undefined;
}

/** Agents of Solace Agent Mesh have one schema for all skills. */
function meshInput({ capabilities }: AgentCard): Json | undefined {
  const found = (capabilities.extensions ?? []).find(({ uri }) => uri === 'https://solace.com/a2a/extensions/sam/schemas');
  return found?.params?.['input_schema'];
}

function mediaFor({ card, skill }: ToolSource): JsonObject {
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
