import type { Part, PromptKitTask } from './player.ts';
import { PromptKitClient } from './player.ts';

/** A tool that PromptKit's bridge makes of a skill. */
interface ToolDescriptor {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly agentUrl: string;
  readonly skillId: string;
}

interface ToolArguments {
  readonly query: string;
  readonly image_url?: string;
  readonly image_data?: string;
}

/** The skills of an agent as tools, and a call of one by its name. */
export interface ToolApi {
  register(): Promise<readonly Pick<ToolDescriptor, 'name' | 'inputs'>[]>;
  execute(tool: string, args: ToolArguments): Promise<{ readonly response: string }>;
}

/** The tools of the player. */
export function playerTools(url: string): ToolApi {
  const known = registerAgent(url);
  known.catch(() => {});
  return {
    register: () => known,
    execute: async (name, args) => {
      const tool = (await known).find((each) => each.name === name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      return await execute(tool, args);
    },
  };
}

const sanitize = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');

/** PromptKit's tool bridge: one tool for each skill of the card, with media inputs where the skill's modes begin so. */
async function registerAgent(url: string): Promise<readonly ToolDescriptor[]> {
  const client = new PromptKitClient(url);
  const card = await client.discover();
  return (card.skills ?? []).map((skill) => {
    const modes = (skill.inputModes ?? []).length > 0 ? (skill.inputModes ?? []) : (card.defaultInputModes ?? []);
    const inputs = ['query'];
    if (modes.some((mode) => mode.startsWith('image/'))) inputs.push('image_url', 'image_data');
    if (modes.some((mode) => mode.startsWith('audio/'))) inputs.push('audio_data');
    return { name: `a2a__${sanitize(card.name)}__${sanitize(skill.id)}`, inputs, agentUrl: client.base, skillId: skill.id };
  });
}

/**
 * PromptKit's executor: one send, never a get. It returns the first text of the status message, else the texts of the artifacts, joined by
 * line breaks. A task that still works gives an empty response.
 */
async function execute(tool: ToolDescriptor, { query, image_url, image_data }: ToolArguments): Promise<{ readonly response: string }> {
  const parts: Part[] = [{ text: query }];
  if (image_url !== undefined) parts.push({ url: image_url, mediaType: 'image/*' });
  if (image_data !== undefined) parts.push({ raw: Buffer.from(image_data).toString('base64'), mediaType: 'image/*' });
  const task = await new PromptKitClient(tool.agentUrl).send({ parts, metadata: { skillId: tool.skillId } });
  return { response: responseText(task) };
}

function responseText({ status, artifacts = [] }: PromptKitTask): string {
  const said = status.message?.parts.find(({ text }) => text !== undefined)?.text;
  if (said !== undefined) return said;
  return artifacts
    .flatMap(({ parts }) => parts)
    .flatMap(({ text }) => (text === undefined ? [] : [text]))
    .join('\n');
}
