import type { Tool } from '@modelcontextprotocol/client';
import type { Json, JsonObject, Message, Turn } from '#protocol';
import { getTextFromMessage, isObject } from '#protocol';

/** A tool and the arguments for its call. */
export interface ChosenTool {
  readonly tool: Tool;
  readonly args: JsonObject;
}

/**
 * Finds the tool that a message is for, and its arguments. The tool is the named skill, or the one
 * whose name the text begins with, or the only one. The arguments are the message's data, its text as
 * JSON, or, for a tool with one string argument, the text. Otherwise it returns a text that lists the
 * tools.
 */
export function choose(tools: readonly Tool[], turn: Turn): ChosenTool | string {
  const named = turn.message.metadata?.['skillId'] ?? turn.task.metadata?.['skillId'];
  const text = getTextFromMessage(turn.message).trim();
  const [first = ''] = text.split(/\s/, 1);
  const byName = tools.find(({ name }) => name === named);
  const byText = byName === undefined ? tools.find(({ name }) => name === first) : undefined;
  const tool = byName ?? byText ?? (tools.length === 1 && named === undefined ? tools[0] : undefined);
  if (tool === undefined) return help(tools, named);
  const args = argumentsFor(tool, turn.message, byText === undefined ? text : text.slice(first.length).trim());
  return args === undefined ? wanted(tool) : { tool, args };
}

/** The tool's arguments: data, JSON text, or plain text for a tool with one text property. */
function argumentsFor(tool: Tool, message: Message, text: string): JsonObject | undefined {
  const data = message.parts.find((part) => part.data !== undefined)?.data;
  if (isObject(data)) return data;
  const parsed = jsonIn(text);
  if (parsed !== undefined) return parsed;
  const { properties = {}, required = [] } = tool.inputSchema;
  if (Object.keys(properties).length === 0) return {};
  if (text === '') return required.length === 0 ? {} : undefined;
  const names = required.length > 0 ? required : Object.keys(properties);
  const [only] = names;
  const takes = only === undefined ? undefined : properties[only];
  const isText = isObject(takes) && takes['type'] === 'string';
  return only !== undefined && names.length === 1 && isText ? { [only]: text } : undefined;
}

function jsonIn(text: string): JsonObject | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function help(tools: readonly Tool[], named: unknown): string {
  const unknown = typeof named === 'string' ? `There is no skill ${JSON.stringify(named.slice(0, 100))} here. ` : '';
  const lines = tools.map(({ name, description }) => `- ${name}${description === undefined ? '' : `: ${description.split('\n')[0]}`}`);
  return `${unknown}Begin the message with one of these, or name it in metadata.skillId:\n${lines.join('\n')}`;
}

function wanted({ name, inputSchema }: Tool): string {
  return `${name} takes a JSON object, as a data part or as text: ${JSON.stringify(inputSchema)}`;
}
