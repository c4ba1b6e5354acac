import { randomBytes } from 'node:crypto';
import { grpcClient } from '../../support/grpc.ts';
import { freshName, sendInit } from '../client.ts';

/** Each refuses in its own way to take a message, and says when to come back. */
export type RefusedBy = 'HTTP+JSON' | 'JSON-RPC' | '0.3' | '0.1' | 'gRPC';

/** What a send was answered with. Undefined: it was accepted, or nobody answered. */
type Refusal = { readonly code: unknown; readonly isDated: boolean } | undefined;

const REQUEST_MS_MAX = 20_000;
/** Text that the server can't compress. */
const text = (): string => `chunks=1 ${randomBytes(150_000).toString('hex')}`;

async function byHttp(url: string, init: RequestInit): Promise<Refusal> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_MS_MAX) });
  const body = (await response.json()) as { readonly error?: { readonly code: number } };
  return body.error === undefined ? undefined : { code: body.error.code, isDated: response.headers.get('retry-after') !== null };
}

function byRpc(url: string, method: string, params: object, headers: Readonly<Record<string, string>> = {}): Promise<Refusal> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return byHttp(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });
}

async function byGrpc(url: string): Promise<Refusal> {
  const client = grpcClient(Number(new URL(url).port));
  const message = { messageId: freshName('m'), role: 'ROLE_USER', parts: [{ text: text() }] };
  try {
    const { code, error } = await client.refusal('send', { message } as never, { timeoutMs: REQUEST_MS_MAX });
    return { code, isDated: error.details.retryAfterMs !== undefined };
  } catch {
    return undefined;
  } finally {
    client.close();
  }
}

const SENDS: Readonly<Record<RefusedBy, (url: string) => Promise<Refusal>>> = {
  'HTTP+JSON': (url) => byHttp(`${url}/message:send`, sendInit(text())),
  'JSON-RPC': (url) =>
    byRpc(
      `${url}/a2a`,
      'SendMessage',
      { message: { messageId: freshName('m'), role: 'ROLE_USER', parts: [{ text: text() }] } },
      { 'A2A-Version': '1.0' },
    ),
  '0.3': (url) =>
    byRpc(`${url}/a2a`, 'message/send', {
      message: { kind: 'message', messageId: freshName('m'), role: 'user', parts: [{ kind: 'text', text: text() }] },
    }),
  '0.1': (url) =>
    byRpc(`${url}/a2a?dialect=v01`, 'tasks/send', {
      id: freshName('named'),
      message: { role: 'user', parts: [{ type: 'text', text: text() }] },
    }),
  gRPC: byGrpc,
};

/** How a node that can't write refuses a send: the code of the dialect, and whether it says when to come back. */
export async function refusalOf(url: string, by: RefusedBy): Promise<Refusal> {
  return SENDS[by](url).catch(() => undefined);
}

/** UNAVAILABLE in each of them. */
export const UNAVAILABLE_CODES: Readonly<Record<RefusedBy, number>> = {
  'HTTP+JSON': 503,
  'JSON-RPC': -31_503,
  '0.3': -31_503,
  '0.1': -32_011,
  gRPC: 14,
};
