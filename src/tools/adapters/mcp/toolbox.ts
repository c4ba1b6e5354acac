import type { LlmTool, LlmToolbox } from '#agents';
import type { Fetch, JsonObject } from '#protocol';
import { distinct, safeName } from '../../names.ts';
import type { McpSource } from './connection.ts';
import { CALL_MS_MAX, reconnecting } from './connection.ts';
import { partsOf } from './content.ts';

/** Options of `mcpToolbox`. */
export interface McpToolboxOptions {
  /** Maximum time until the server has started and listed its tools, in milliseconds. Default 30,000. */
  readonly startMsMax?: number;
  /** Sends the requests to a server with an HTTP address. */
  readonly fetch?: Fetch;
}

/**
 * The tools of an MCP server, for `llmAgent`. The server starts with the first message. Its hints about
 * harmless tools are not trusted: every call needs an approval, unless the agent's `approval` says
 * otherwise.
 *
 * ```ts
 * const agent = llmAgent({ model, tools: mcpToolbox({ command: 'npx', args: ['-y', 'some-mcp-server'] }) });
 * ```
 */
export function mcpToolbox(source: McpSource, options: McpToolboxOptions = {}): LlmToolbox {
  const connection = reconnecting(source, options);
  return {
    runsCommands: true,
    tools: async () => {
      const { tools } = await connection.get();
      const taken = new Set<string>();
      return tools.map((tool): LlmTool => {
        const name = distinct(safeName(tool.name), taken);
        taken.add(name);
        return {
          name,
          description: tool.description ?? tool.title ?? tool.name,
          inputSchema: tool.inputSchema as unknown as JsonObject,
          run: async (input, { signal }) => {
            const { client } = await connection.get();
            const called = await client.callTool({ name: tool.name, arguments: { ...input } }, { signal, timeout: CALL_MS_MAX });
            const parts = partsOf(called.content, called.structuredContent as JsonObject | undefined);
            const text = parts.map(
              (part) => part.text ?? (part.data === undefined ? `[${part.mediaType ?? 'a file'}]` : JSON.stringify(part.data)),
            );
            return { text: text.join('\n'), isError: called.isError === true };
          },
        };
      });
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
