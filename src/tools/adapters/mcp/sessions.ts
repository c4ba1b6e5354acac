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
    makeRoom(sessions);
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

function ownerOf({ principal, tenant }: Caller): string {
  return JSON.stringify([principal.id, tenant ?? '']);
}

/** Hosts that went away without a word leave theirs behind. */
function makeRoom(sessions: Map<string, Session>): void {
  const byAge = [...sessions].sort(([, left], [, right]) => left.usedAt - right.usedAt);
  const oldest = performance.now() - IDLE_MS_MAX;
  for (const [at, [id, { transport, usedAt }]] of byAge.entries()) {
    if (usedAt >= oldest && sessions.size < SESSIONS_MAX) return;
    if (at > SESSIONS_MAX) return;
    sessions.delete(id);
    void transport.close();
  }
}
