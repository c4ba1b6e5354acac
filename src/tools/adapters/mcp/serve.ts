import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { Server } from '@modelcontextprotocol/server';
import type { StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { JsonObject } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import type { AgentTool, AgentToolOptions, Reachable } from '../../agent-tools.ts';
import { agentTools } from '../../agent-tools.ts';
import { outcomeJson } from '../../outcome.ts';
import { contentOf } from './content.ts';
import type { Caller } from './sessions.ts';
import { mcpDoor } from './sessions.ts';

export interface McpServerOptions {
  readonly name?: string;
  readonly version?: string;
  /** What could not be told to the host. */
  readonly onError?: (error: Error) => void;
}

/** Agents' tools to an MCP host that has started this process. Resolves when the host is gone. */
export function serveMcpStdio(tools: readonly AgentTool[], options: McpServerOptions = {}): StdioServerHandle {
  return serveStdio(() => serverOf(tools, options), options.onError === undefined ? {} : { onerror: options.onError });
}

/** The same over streamable HTTP: a `fetch` handler, for whoever reaches it. */
export function mcpFetch(tools: readonly AgentTool[], options: McpServerOptions = {}): (request: Request) => Promise<Response> {
  const answer = mcpDoor(() => serverOf(tools, options), options.onError);
  return (request) => answer(request, { principal: LOCAL_PRINCIPAL });
}

/** The agents of a node, for `/mcp` of its server: whoever calls a tool is the owner of the task that it makes. */
export function mcpMount(
  agents: readonly (Reachable & { readonly name: string })[],
  options: McpServerOptions & Pick<AgentToolOptions, 'naming'> = {},
): (request: Request, caller: Caller) => Promise<Response> {
  return mcpDoor(async (caller) => serverOf(await toolsOfAll(agents, { ...options, caller }), options), options.onError);
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

function serverOf(tools: readonly AgentTool[], { name = 'parley', version = '1.0.0' }: McpServerOptions): Server {
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
    return await call(tool, (params.arguments ?? {}) as JsonObject, ctx);
  });
  return server;
}

async function call(tool: AgentTool, args: JsonObject, { mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  let told: Promise<void> = Promise.resolve();
  const tell = (message: string): void => {
    progress += 1;
    if (progressToken === undefined) return;
    const params = { progressToken, progress, message };
    // One after the other. A host that has left does not hear it, and that is no reason to stop.
    told = told.then(() => mcpReq.notify({ method: 'notifications/progress', params })).catch(() => {});
  };
  try {
    const outcome = await tool.execute(args, { signal: mcpReq.signal, onProgress: tell });
    await told; // what comes after the result is for nobody
    return {
      content: contentOf(outcome),
      structuredContent: { ...outcomeJson(outcome) },
      ...(outcome.ok || outcome.isWaiting ? {} : { isError: true }),
    };
  } catch (thrown) {
    if (mcpReq.signal.aborted) throw thrown;
    // What an agent refuses is for the model to read; MCP's own errors are for faults of the protocol.
    return failed(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
