import { serveJsonRpc } from '#bindings';
import type { AgentCard } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';
import { CARD } from './card.ts';
import type { Listening } from './listen.ts';
import { listen } from './listen.ts';
import { memoryService } from './memory-service.ts';

/** A server that understands one dialect only, with its card where servers of that dialect have it. */
export interface DialectServer {
  readonly dialect: string;
  readonly cardPath: string;
  readonly rpcPath: string;
  /** The A2A version that strict mode must name to use it. */
  readonly version?: string;
}

export const DIALECT_SERVERS: readonly DialectServer[] = [
  { dialect: 'v10', cardPath: '/.well-known/agent-card.json', rpcPath: '/a2a' },
  { dialect: 'v03', cardPath: '/.well-known/agent-card.json', rpcPath: '/a2a/jsonrpc', version: '0.3' },
  { dialect: 'v02.5', cardPath: '/.well-known/agent.json', rpcPath: '/rpc', version: '0.2' },
  { dialect: 'v01', cardPath: '/.well-known/agent.json', rpcPath: '/', version: '0.1' },
  { dialect: 'society', cardPath: '/.well-known/agent.json', rpcPath: '/', version: '0.1' },
  { dialect: 'promptkit', cardPath: '/.well-known/agent.json', rpcPath: '/a2a' },
  { dialect: 'cortex', cardPath: '/.well-known/a2a-agent-card.json', rpcPath: '/a2a' },
  { dialect: 'cortex', cardPath: '/api/a2a/agent-card.json', rpcPath: '/api/a2a' },
];

const registry = createRegistry(DIALECTS);

export async function serveDialect({ dialect: id, cardPath, rpcPath }: DialectServer, withCard = true): Promise<Listening> {
  const dialect = registry.byId(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  const service = memoryService(CARD);
  const server = await listen(async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET' && withCard && pathname === cardPath) return Response.json(cardOf(id, `${server.url}${rpcPath}`));
    if (request.method === 'POST' && pathname === rpcPath) return await serveJsonRpc(request, service, { dialect });
    return new Response('not here', { status: 404 });
  });
  return server;
}

function cardOf(id: string, url: string): unknown {
  const dialect = registry.byId(id);
  const protocolVersion = /^v(\d)(\d)/.exec(id)?.slice(1).join('.') ?? '1.0';
  const capabilities = id === 'society' ? {} : CARD.capabilities; // Society has no streams
  const card: AgentCard = { ...CARD, capabilities, supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion }] };
  // PromptKit cards name no address. Readers recognise them by that.
  const written = dialect?.card.write(id === 'promptkit' ? { ...card, supportedInterfaces: [] } : card);
  return JSON.parse(JSON.stringify(written));
}
