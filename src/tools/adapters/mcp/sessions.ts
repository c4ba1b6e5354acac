import type { Server } from '@modelcontextprotocol/server';
import { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { CallContext } from '#protocol';

/** The caller of an MCP request. */
export type McpCaller = Pick<CallContext, 'principal' | 'tenant'>;

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

/** Maximum number of sessions in memory. */
const SESSIONS_MAX = 1000;
/** Maximum number of sessions of one caller. */
const OWNER_SESSIONS_MAX = 100;
/** Unused sessions are closed after an hour. */
const IDLE_MS_MAX = 3_600_000;

/**
 * Serves MCP over HTTP to hosts of both protocol generations. Hosts of 2026 send independent requests.
 * Hosts of 2025 have sessions, because they cancel a call by another request, whose number is unique
 * only within a session. A session belongs to one caller.
 */
export function mcpHandler(
  serverFor: (caller: McpCaller) => Server | Promise<Server>,
  onerror: ((error: Error) => void) | undefined,
): (request: Request, caller: McpCaller) => Promise<Response> {
  const sessions = new Map<string, Session>();
  const reporting = onerror === undefined ? {} : { onerror };
  const modern = createMcpHandler(({ authInfo }) => serverFor(authInfo?.extra?.['caller'] as McpCaller), reporting);
  const open = async (caller: McpCaller): Promise<WebStandardStreamableHTTPServerTransport> => {
    makeRoom(sessions, ownerOf(caller));
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, { owner: ownerOf(caller), transport, usedAt: performance.now() }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await (await serverFor(caller)).connect(transport);
    return transport;
  };
  return async (request, caller) => {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) return await resume(sessions, { id, request, caller });
    if ((await isLegacyRequest(request)) && (await isInitialize(request))) return (await open(caller)).handleRequest(request);
    const { id: clientId, scopes } = caller.principal;
    return modern.fetch(request, { authInfo: { token: '', clientId, scopes: [...scopes], extra: { caller } } });
  };
}

interface SessionRequest {
  readonly id: string;
  readonly request: Request;
  readonly caller: McpCaller;
}

/** An unknown session is 404, and the host starts a new one (MCP 2025-11-25, Streamable HTTP). */
async function resume(sessions: ReadonlyMap<string, Session>, { id, request, caller }: SessionRequest): Promise<Response> {
  const session = sessions.get(id);
  if (session === undefined || session.owner !== ownerOf(caller)) {
    const error = { code: -32001, message: 'Session not found' };
    return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
  }
  session.usedAt = performance.now();
  return await session.transport.handleRequest(request);
}

/** Whether a request starts a session. */
async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false;
  try {
    const body: unknown = await request.clone().json();
    return typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
  } catch {
    return false;
  }
}

/**
 * Includes the scopes: a key with fewer scopes must not use a session of another key with the same
 * name.
 */
function ownerOf({ principal, tenant }: McpCaller): string {
  return JSON.stringify([principal.id, tenant ?? '', [...principal.scopes].sort()]);
}

/**
 * Closes sessions that hosts left open. A caller with many sessions loses its own oldest ones first.
 */
function makeRoom(sessions: Map<string, Session>, owner: string): void {
  const byAge = [...sessions].sort(([, left], [, right]) => left.usedAt - right.usedAt);
  const oldest = performance.now() - IDLE_MS_MAX;
  const close = ([id, { transport }]: readonly [string, Session]): void => {
    sessions.delete(id);
    void transport.close();
  };
  const own = byAge.filter(([, session]) => session.owner === owner);
  for (const each of byAge.filter(([, { usedAt }]) => usedAt < oldest)) close(each);
  for (const each of own.slice(0, Math.max(0, own.length - OWNER_SESSIONS_MAX + 1))) close(each);
  for (const each of byAge.slice(0, Math.max(0, sessions.size - SESSIONS_MAX + 1))) close(each);
}
