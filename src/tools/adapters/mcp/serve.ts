import type { CallToolResult, McpServerFactory, ServerContext } from '@modelcontextprotocol/server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import type { StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CallContext, JsonObject } from '#protocol';
import { isA2AError } from '#protocol';
import type { AgentTool, AgentToolOptions, Reachable } from '../../agent-tools.ts';
import { agentTools } from '../../agent-tools.ts';
import { outcomeJson } from '../../outcome.ts';
import { contentOf } from './content.ts';

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

/** The same over streamable HTTP: a `fetch` handler. */
export function mcpFetch(tools: readonly AgentTool[], options: McpServerOptions = {}): (request: Request) => Promise<Response> {
  return createMcpHandler(() => serverOf(tools, options), handlerOptions(options)).fetch;
}

type Caller = Pick<CallContext, 'principal' | 'tenant'>;

/** The agents of a node, for `/mcp` of its server: whoever calls a tool is the owner of the task that it makes. */
export function mcpMount(
  agents: readonly (Reachable & { readonly name: string })[],
  options: McpServerOptions & Pick<AgentToolOptions, 'naming'> = {},
): (request: Request, caller: Caller) => Promise<Response> {
  const factory: McpServerFactory = async ({ authInfo }) => {
    const caller = authInfo?.extra?.['caller'] as Caller | undefined;
    return serverOf(await toolsOfAll(agents, { ...options, ...(caller === undefined ? {} : { caller }) }), options);
  };
  const handler = createMcpHandler(factory, handlerOptions(options));
  return (request, caller) => {
    const { id: clientId, scopes } = caller.principal;
    return handler.fetch(request, { authInfo: { token: '', clientId, scopes: [...scopes], extra: { caller } } });
  };
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

function handlerOptions({ onError }: McpServerOptions): { readonly onerror?: (error: Error) => void } {
  return onError === undefined ? {} : { onerror: onError };
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
    if (tool === undefined) return told(`there is no tool ${params.name}`);
    return await call(tool, (params.arguments ?? {}) as JsonObject, ctx);
  });
  return server;
}

async function call(tool: AgentTool, args: JsonObject, { mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  const tell = (message: string): void => {
    progress += 1;
    if (progressToken === undefined) return;
    // A host that has left does not hear it, and that is no reason to stop.
    void mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {});
  };
  try {
    const outcome = await tool.execute(args, { signal: mcpReq.signal, onProgress: tell });
    return {
      content: contentOf(outcome),
      structuredContent: { ...outcomeJson(outcome) },
      ...(outcome.ok || outcome.isWaiting ? {} : { isError: true }),
    };
  } catch (thrown) {
    if (mcpReq.signal.aborted) throw thrown;
    // What an agent refuses is for the model to read; MCP's own errors are for faults of the protocol.
    return told(isA2AError(thrown) || thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function told(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
