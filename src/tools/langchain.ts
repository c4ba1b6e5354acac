import type { JsonObject } from '#protocol';
import type { AgentTool } from './agent-tools.ts';
import { outcomeJson } from './outcome.ts';

/** What LangChain's `tool` is told of one. */
export interface LangChainFields {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

type Run = (input: unknown, config: { readonly signal?: AbortSignal | undefined }) => Promise<string>;

/**
 * Tools for LangChain and LangGraph, made by their own `tool`, so that its version is the caller's choice:
 * `model.bindTools(toLangChainTools(await toolsOf([{ url }]), (run, fields) => tool(run, fields)))`.
 */
export function toLangChainTools<Made>(tools: readonly AgentTool[], tool: (run: Run, fields: LangChainFields) => Made): readonly Made[] {
  return tools.map(({ name, description, inputSchema, execute }) =>
    tool(
      async (input, { signal }) => JSON.stringify(outcomeJson(await execute(input as JsonObject, signal === undefined ? {} : { signal }))),
      { name, description, schema: inputSchema },
    ),
  );
}
