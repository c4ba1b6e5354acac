import type { Server } from '@modelcontextprotocol/server';
import { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { CallContext } from '#protocol';

export type Caller = Pick<CallContext, 'principal' | 'tenant'>;

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

const SESSIONS_MAX = 1000;
const OWNER_SESSIONS_MAX = 100;
const IDLE_MS_MAX = 3_600_000;

/**
 * MCP over HTTP for hosts of both eras. Those of 2026 speak in requests of their own. Those of 2025 have sessions, and need them: they cancel a
 * call by another request, which only a session can tell from the same number of somebody else's. A session is its caller's alone.
 */
export function mcpDoor(
  serverFor: (caller: Caller) => Server | Promise<Server>,
  onerror: ((error: Error) => void) | undefined,
): (request: Request, caller: Caller) => Promise<Response> {
  const sessions = new Map<string, Session>();
  const reporting = onerror === undefined ? {} : { onerror };
  const modern = createMcpHandler(({ authInfo }) => serverFor(authInfo?.extra?.['caller'] as Caller), reporting);
  const open = async (caller: Caller): Promise<WebStandardStreamableHTTPServerTransport> => {
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
    if (id !== null) return await resumed(sessions, { id, request, caller });
    if ((await isLegacyRequest(request)) && (await isInitialize(request))) return (await open(caller)).handleRequest(request);
    const { id: clientId, scopes } = caller.principal;
    return modern.fetch(request, { authInfo: { token: '', clientId, scopes: [...scopes], extra: { caller } } });
  };
}

interface Resuming {
  readonly id: string;
  readonly request: Request;
  readonly caller: Caller;
}

/** MCP 2025-11-25, Streamable HTTP: a session that is not known is 404, and the host begins a new one. */
async function resumed(sessions: ReadonlyMap<string, Session>, { id, request, caller }: Resuming): Promise<Response> {
  const session = sessions.get(id);
  if (session === undefined || session.owner !== ownerOf(caller)) {
    const error = { code: -32001, message: 'Session not found' };
    return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
  }
  session.usedAt = performance.now();
  return await session.transport.handleRequest(request);
}

async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false;
  try {
    const body: unknown = await request.clone().json();
    return typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
  } catch {
    return false;
  }
}

/** Scopes too: of two keys of one name, the lesser must not go on in a session of the other. */
function ownerOf({ principal, tenant }: Caller): string {
  return JSON.stringify([principal.id, tenant ?? '', [...principal.scopes].sort()]);
}

/** Hosts that went away without a word leave theirs behind. Whoever opens many closes their own by it, and nobody else's before that. */
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
