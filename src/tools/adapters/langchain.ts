import type { DynamicStructuredTool } from '@langchain/core/tools';
import { tool } from '@langchain/core/tools';
import type { JsonObject } from '#protocol';
import type { AgentTool } from '../agent-tools.ts';
import { outcomeJson } from '../outcome.ts';

/** Tools for LangChain and LangGraph: `model.bindTools(toLangChainTools(await toolsOf([{ url }])))`. */
export function toLangChainTools(tools: readonly AgentTool[]): readonly DynamicStructuredTool[] {
  return tools.map(langChainTool);
}

function langChainTool({ name, description, inputSchema, execute }: AgentTool): DynamicStructuredTool {
  return tool(
    async (args: unknown, config) =>
      JSON.stringify(outcomeJson(await execute(args as JsonObject, config.signal === undefined ? {} : { signal: config.signal }))),
    { name, description, schema: { ...inputSchema } },
  );
}
