import type { Tool } from '@modelcontextprotocol/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Fetch } from '#protocol';
import { kept } from '#protocol';

/** An MCP server: a program to start, or an HTTP address. */
export type McpSource =
  | { readonly command: string; readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>>; readonly cwd?: string }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

interface McpConnectionOptions {
  readonly startMsMax?: number;
  readonly fetch?: Fetch;
}

const START_MS_MAX = 30_000;
/** MCP clients time out after a minute by default. A run of an agent has its own limits. */
export const CALL_MS_MAX: number = 24 * 3_600_000;

/** A connected client, with the tools of its server. */
export interface McpConnected {
  readonly client: Client;
  readonly tools: readonly Tool[];
}

/** A connection to an MCP server. */
export interface McpConnection {
  get(): Promise<McpConnected>;
  close(): Promise<void>;
}

/** One connection at a time, opened again after it is closed. */
export function reconnecting(source: McpSource, { startMsMax = START_MS_MAX, fetch }: McpConnectionOptions): McpConnection {
  let known: Promise<McpConnected> | undefined;
  const connect = async (): Promise<McpConnected> => {
    const client = new Client({ name: 'parley', version: '1.0.0' }, { capabilities: {} });
    client.onclose = () => {
      known = undefined;
    };
    await client.connect(transportFor(source, fetch), { timeout: startMsMax });
    const { tools } = await client.listTools(undefined, { timeout: startMsMax });
    return { client, tools };
  };
  return {
    get: () => {
      known ??= connect();
      known.catch(() => {
        known = undefined;
      });
      return known;
    },
    close: async () => {
      const open = known;
      known = undefined;
      await (await open)?.client.close();
    },
  };
}

/** The transport of the MCP client: a program, or a server over HTTP. */
function transportFor(source: McpSource, get: Fetch | undefined): StdioClientTransport | StreamableHTTPClientTransport {
  if ('url' in source) {
    const requestInit: RequestInit = { headers: { ...source.headers }, redirect: 'error' };
    const own = get === undefined ? {} : { fetch: (at: string | URL, init?: RequestInit) => get(kept(new Request(at, init))) };
    return new StreamableHTTPClientTransport(new URL(source.url), { requestInit, ...own });
  }
  const { command, args = [], env, cwd } = source;
  // The program gets the SDK's default environment and the variables named here, so that our secrets stay with us (getDefaultEnvironment).
  return new StdioClientTransport({
    command,
    args: [...args],
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(cwd === undefined ? {} : { cwd }),
  });
}
