import type { Tool, ToolSet } from 'ai';
import { jsonSchema, tool } from 'ai';
import type { JsonObject } from '#protocol';
import type { AgentTool } from '../agent-tools.ts';
import { outcomeJson } from '../outcome.ts';

/** Tools for the Vercel AI SDK: `generateText({ tools: toAiTools(await toolsOf([{ url }])) })`. */
export function toAiTools(tools: readonly AgentTool[]): ToolSet {
  return Object.fromEntries(tools.map((each) => [each.name, aiTool(each)]));
}

function aiTool({ description, inputSchema, execute }: AgentTool): Tool<JsonObject, JsonObject> {
  return tool<JsonObject, JsonObject, Record<string, unknown>>({
    description,
    inputSchema: jsonSchema<JsonObject>(inputSchema),
    execute: async (args, { abortSignal }) => outcomeJson(await execute(args, abortSignal === undefined ? {} : { signal: abortSignal })),
  });
}
