import { readFileSync } from 'node:fs';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { Server } from '@modelcontextprotocol/server';
import type { StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { JsonObject } from '#protocol';
import { jsonOf, LOCAL_PRINCIPAL } from '#protocol';
import type { AgentTool, AgentToolOptions, Reachable } from '../../agent-tools.ts';
import { agentTools } from '../../agent-tools.ts';
import { outcomeJson } from '../../outcome.ts';
import { contentOf } from './content.ts';
import type { McpCaller } from './sessions.ts';
import { mcpHandler } from './sessions.ts';

/** Options of the MCP servers. */
export interface McpServerOptions {
  /** Name that hosts show. Default `parley`. */
  readonly name?: string;
  /** Version that hosts show. Default: the version of this package. */
  readonly version?: string;
  /** Called with errors that could not be sent to the host. */
  readonly onError?: (error: Error) => void;
}

/**
 * Serves agents' tools on standard input and output, to an MCP host that started this process.
 *
 * ```ts
 * serveMcpStdio(await toolsOf([{ url: 'https://agent.example' }]));
 * ```
 */
export function serveMcpStdio(tools: readonly AgentTool[], options: McpServerOptions = {}): StdioServerHandle {
  return serveStdio(() => serverOf(tools, options), options.onError === undefined ? {} : { onerror: options.onError });
}

/**
 * Serves agents' tools over streamable HTTP, to every client that can reach the handler.
 *
 * ```ts
 * const handle = mcpFetch(await toolsOf([{ url: 'https://agent.example' }])); // (request: Request) => Promise<Response>
 * ```
 */
export function mcpFetch(tools: readonly AgentTool[], options: McpServerOptions = {}): (request: Request) => Promise<Response> {
  const handle = mcpHandler(() => serverOf(tools, options), options.onError);
  return (request) => handle(request, { principal: LOCAL_PRINCIPAL });
}

/**
 * Serves the agents of a node at `/mcp`. The caller of a tool owns the task that it creates.
 *
 * ```ts
 * const mount = mcpMount([{ name: 'echo', service, card }]);
 * const response = await mount(request, { principal });
 * ```
 */
export function mcpMount(
  agents: readonly (Reachable & { readonly name: string })[],
  options: McpServerOptions & Pick<AgentToolOptions, 'naming'> = {},
): (request: Request, caller: McpCaller) => Promise<Response> {
  return mcpHandler(async (caller) => serverOf(await toolsOfAll(agents, { ...options, caller }), options), options.onError);
}

async function toolsOfAll(
  agents: readonly (Reachable & { readonly name: string })[],
  options: AgentToolOptions,
): Promise<readonly AgentTool[]> {
  const taken = new Set<string>();
  const all: AgentTool[] = [];
  for (const { name, service, card } of agents) {
    for (const tool of await agentTools({ service, card }, { ...options, name, taken })) {
      taken.add(tool.name);
      all.push(tool);
    }
  }
  return all;
}

let known: string | undefined;

/** Empty where there is no file system. */
function packageVersion(): string {
  try {
    known ??= (JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as { readonly version: string })
      .version;
  } catch {
    known = '';
  }
  return known;
}

/** An MCP server for these tools. */
function serverOf(tools: readonly AgentTool[], { name = 'parley', version = packageVersion() }: McpServerOptions): Server {
  const server = new Server({ name, version }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: { ...tool.inputSchema, type: 'object' as const },
      outputSchema: { ...tool.outputSchema, type: 'object' as const },
      annotations: { openWorldHint: true },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = tools.find((each) => each.name === params.name);
    if (tool === undefined) return failed(`there is no tool ${params.name}`);
    return await call(tool, jsonOf(params.arguments ?? {}), ctx);
  });
  return server;
}

/** Runs a tool. Sends progress if the client asked for it. */
async function call(tool: AgentTool, args: JsonObject, { mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  let notified: Promise<void> = Promise.resolve();
  const notify = (message: string): void => {
    progress += 1;
    if (progressToken === undefined) return;
    const params = { progressToken, progress, message };
    // One after the other. The call continues when the host has disconnected.
    notified = notified.then(() => mcpReq.notify({ method: 'notifications/progress', params })).catch(() => {});
  };
  try {
    const outcome = await tool.execute(args, { signal: mcpReq.signal, onProgress: notify });
    await notified; // hosts ignore notifications after the result
    return {
      content: contentOf(outcome),
      structuredContent: { ...outcomeJson(outcome) },
      ...(outcome.ok || outcome.isWaiting ? {} : { isError: true }),
    };
  } catch (thrown) {
    if (mcpReq.signal.aborted) throw thrown;
    // The model reads what an agent refuses. MCP errors are for faults of the protocol.
    return failed(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
