import type { Json, JsonObject } from '#protocol';
import { A2AError } from '#protocol';
import type { AgentTool, ToolCallOptions } from './agent-tools.ts';
import { outcomeJson } from './outcome.ts';
import { isObject } from './schemas.ts';

/** A tool as OpenAI's chat API, and everything that copies it, takes one. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

export function toOpenAiTools(tools: readonly AgentTool[]): readonly OpenAiTool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
}

/** A call as a model makes it. */
export interface OpenAiToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Calls the tool that a model has chosen; what comes back is the message to answer it with. An error is told to the model. */
export async function callOpenAiTool(
  tools: readonly AgentTool[],
  call: OpenAiToolCall,
  options: ToolCallOptions = {},
): Promise<{ readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }> {
  const answer = (content: Json) => ({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(content) }) as const;
  try {
    const tool = tools.find(({ name }) => name === call.function.name);
    if (tool === undefined) throw new A2AError('INVALID_PARAMS', `there is no tool ${call.function.name}`);
    return answer(outcomeJson(await tool.execute(argumentsIn(call.function.arguments), options)));
  } catch (thrown) {
    if (options.signal?.aborted === true) throw thrown;
    return answer({ error: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

function argumentsIn(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new A2AError('INVALID_PARAMS', 'the arguments are not JSON');
  }
  if (!isObject(value)) throw new A2AError('INVALID_PARAMS', 'the arguments are not an object');
  return value;
}
