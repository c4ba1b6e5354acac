import type { JsonObject, SchemaResult } from '#protocol';
import { isObject, jsonOf } from '#protocol';
import type { AgentTool } from './agent-tools.ts';
import { outcomeJson } from './outcome.ts';

/** Standard Schema with a JSON Schema, which the AI SDK reads. */
interface PublishedSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<JsonObject>;
    readonly jsonSchema: Readonly<Record<'input' | 'output', () => Record<string, unknown>>>;
  };
}

/** A tool in the shape of the Vercel AI SDK, without a dependency on it. */
export interface AiTool {
  /** What the tool does. The model chooses tools by it. */
  readonly description: string;
  /** Schema of the arguments, in a form that the AI SDK validates with. */
  readonly inputSchema: PublishedSchema;
  /** Runs the tool and returns its result as JSON. */
  execute(input: JsonObject, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<JsonObject>;
}

/**
 * Tools for the Vercel AI SDK.
 *
 * ```ts
 * await generateText({ model, prompt, tools: toAiTools(await toolsOf([{ url }])) });
 * ```
 */
export function toAiTools(tools: readonly AgentTool[]): Record<string, AiTool> {
  return Object.fromEntries(tools.map((tool) => [tool.name, aiTool(tool)]));
}

function aiTool({ description, inputSchema, execute }: AgentTool): AiTool {
  return {
    description,
    inputSchema: published(inputSchema),
    execute: async (input, { abortSignal }) => outcomeJson(await execute(input, abortSignal === undefined ? {} : { signal: abortSignal })),
  };
}

/** The schema for the model. The agent itself validates the arguments. */
function published(schema: JsonObject): PublishedSchema {
  const show = (): Record<string, unknown> => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'parley',
      validate: (value): SchemaResult<JsonObject> =>
        isObject(value) ? { value: jsonOf(value) } : { issues: [{ message: 'must be an object' }] },
      jsonSchema: { input: show, output: show },
    },
  };
}
