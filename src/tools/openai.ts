import type { Json, JsonObject } from '#protocol';
import { A2AError, isObject } from '#protocol';
import type { AgentTool, ToolCallOptions } from './agent-tools.ts';
import { outcomeJson } from './outcome.ts';

/** A tool in the form of OpenAI's chat API. */
export interface OpenAiTool {
  /** OpenAI's name for tools that the caller runs. */
  readonly type: 'function';
  /** Name, description and the JSON Schema of the arguments. */
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

/**
 * Converts tools for OpenAI's chat API. Run a model's call with `callOpenAiTool`.
 *
 * ```ts
 * const completion = await openai.chat.completions.create({ model, messages, tools: [...toOpenAiTools(tools)] });
 * ```
 */
export function toOpenAiTools(tools: readonly AgentTool[]): readonly OpenAiTool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
}

/** A model's tool call. */
export interface OpenAiToolCall {
  /** Identifies the call. The result must repeat it. */
  readonly id: string;
  /** The tool, and its arguments as JSON text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/**
 * Runs a model's tool call and returns the message for the model. Errors become the content of that
 * message.
 *
 * ```ts
 * for (const call of choice.message.tool_calls) messages.push(await callOpenAiTool(tools, call));
 * ```
 */
export async function callOpenAiTool(
  tools: readonly AgentTool[],
  call: OpenAiToolCall,
  options: ToolCallOptions = {},
): Promise<{ readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }> {
  const reply = (content: Json) => ({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(content) }) as const;
  try {
    const tool = tools.find(({ name }) => name === call.function.name);
    if (tool === undefined) throw new A2AError('INVALID_PARAMS', `there is no tool ${call.function.name}`);
    return reply(outcomeJson(await tool.execute(argumentsIn(call.function.arguments), options)));
  } catch (thrown) {
    if (options.signal?.aborted === true) throw thrown;
    return reply({ error: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

/** Parses the arguments of a model's call, which may be invalid JSON. */
function argumentsIn(text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new A2AError('INVALID_PARAMS', 'the arguments are not JSON');
  }
  if (!isObject(value)) throw new A2AError('INVALID_PARAMS', 'the arguments are not an object');
  return value;
}
