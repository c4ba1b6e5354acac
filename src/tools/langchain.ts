import type { JsonObject } from '#protocol';
import type { AgentTool } from './agent-tools.ts';
import { outcomeJson } from './outcome.ts';

/** The fields that LangChain's `tool` function needs. */
export interface LangChainFields {
  /** Name of the tool, as the model calls it. */
  readonly name: string;
  /** What the tool does. The model chooses tools by it. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: JsonObject;
}

type Run = (input: unknown, config: { readonly signal?: AbortSignal | undefined }) => Promise<string>;

/**
 * Tools for LangChain and LangGraph. They are made by the caller's own `tool` function, so that the
 * caller chooses its version.
 *
 * ```ts
 * model.bindTools(toLangChainTools(await toolsOf([{ url }]), (run, fields) => tool(run, fields)));
 * ```
 */
export function toLangChainTools<Made>(tools: readonly AgentTool[], tool: (run: Run, fields: LangChainFields) => Made): readonly Made[] {
  return tools.map(({ name, description, inputSchema, execute }) =>
    tool(
      async (input, { signal }) => JSON.stringify(outcomeJson(await execute(input as JsonObject, signal === undefined ? {} : { signal }))),
      { name, description, schema: inputSchema },
    ),
  );
}
