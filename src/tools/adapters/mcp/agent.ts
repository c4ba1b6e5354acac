import type { Tool } from '@modelcontextprotocol/client';
import { artifact, fail, reject, status } from '#agents';
import type { Agent, AgentOutput, Fetch, JsonObject, Turn } from '#protocol';
import { generateAgentCard, titleOf } from '../../card-from-tools.ts';
import { choose } from './choose.ts';
import type { McpConnection, McpSource } from './connection.ts';
import { CALL_MS_MAX, reconnecting } from './connection.ts';
import { partsOf } from './content.ts';

/** Options of `mcpAgent`. */
export interface McpAgentOptions {
  /** The agent's name. Default: the server's name. */
  readonly name?: string;
  /**
   * Maximum time until the server has started and listed its tools, in milliseconds. Default 30,000.
   */
  readonly startMsMax?: number;
  /**
   * Sends the requests to a server with an HTTP address. Default: the platform's `fetch`, which follows
   * no redirect.
   */
  readonly fetch?: Fetch;
}

/** An agent whose skills are an MCP server's tools. Dispose of it to end the server. */
export interface McpAgent extends Agent, AsyncDisposable {
  /** The tools that the server listed at the start. */
  readonly tools: readonly Tool[];
}

/**
 * Starts an MCP server, or connects to it, and offers its tools as skills of an agent, with their
 * schemas. A server that dies is started again for the next call. A call is never repeated
 * automatically, because its tool may have done something already.
 *
 * ```ts
 * const agent = await mcpAgent({ command: 'npx', args: ['-y', 'some-mcp-server'] });
 * ```
 */
export async function mcpAgent(source: McpSource, options: McpAgentOptions = {}): Promise<McpAgent> {
  const connection = reconnecting(source, options);
  const { client, tools } = await connection.get();
  const server = client.getServerVersion();
  const name = options.name ?? server?.name ?? 'mcp';
  const card = generateAgentCard(
    tools.map((tool) => ({
      name: tool.name,
      description: tool.description ?? tool.title ?? titleOf(tool.name),
      capabilities: ['mcp'],
      inputSchema: tool.inputSchema as unknown as JsonObject,
    })),
    {
      name,
      description: client.getInstructions() ?? `The tools of the MCP server ${server?.name ?? name}.`,
      ...versionOf(server?.version),
    },
  );
  const modes = ['text/plain', 'application/json', '*/*'];
  return {
    card: { ...card, capabilities: { ...card.capabilities, pushNotifications: true }, defaultOutputModes: modes },
    recovery: 'fail',
    // The tools may change files, run programs and use accounts, with the rights of the process that serves them.
    runsCommands: true,
    tools,
    run: (turn) => run(connection, turn),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

function versionOf(version: string | undefined): { readonly version?: string } {
  return version === undefined ? {} : { version };
}

/** Calls the tool that the message names. Progress becomes status messages. */
async function* run(connection: McpConnection, turn: Turn): AsyncGenerator<AgentOutput> {
  const { client, tools } = await connection.get();
  const chosen = choose(tools, turn);
  if (typeof chosen === 'string') {
    yield reject(chosen);
    return;
  }
  const notes = queue<string>();
  const calling = client
    .callTool(
      { name: chosen.tool.name, arguments: { ...chosen.args } },
      {
        signal: turn.signal,
        timeout: CALL_MS_MAX,
        onprogress: ({ message, progress, total }) => notes.push(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`),
      },
    )
    .finally(() => notes.end());
  calling.catch(() => {}); // awaited below, after the progress notes
  for await (const note of notes.all()) yield status(note);
  const { content, structuredContent, isError } = await calling;
  const parts = partsOf(content, structuredContent as JsonObject | undefined);
  if (isError === true) yield fail(parts.length === 0 ? `${chosen.tool.name} failed` : parts);
  else if (parts.length > 0) yield artifact({ name: chosen.tool.name, parts });
}

interface Queue<T> {
  push(item: T): void;
  end(): void;
  all(): AsyncGenerator<T>;
}

/** A queue between the callbacks of the MCP client and the generator of the run. */
function queue<T>(): Queue<T> {
  const items: T[] = [];
  let isOver = false;
  let wake: () => void = () => {};
  return {
    push: (item) => {
      items.push(item);
      wake();
    },
    end: () => {
      isOver = true;
      wake();
    },
    all: async function* () {
      for (;;) {
        for (let item = items.shift(); item !== undefined; item = items.shift()) yield item;
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
