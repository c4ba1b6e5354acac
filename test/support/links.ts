import type { LinkOptions } from '#bindings';
import { jsonRpcLink, restLink } from '#bindings';
import type { A2AService, CallContext, Dialect, SendRequest, TaskId } from '#protocol';
import { taskId } from '#protocol';
import { callContext, dialectOf, userMessage } from './calls.ts';

export const v10: Dialect = dialectOf('v10');
export const ctx: CallContext = callContext();
export const ID: TaskId = taskId('t1');
/** The request as sent on the wire. */
export const TASK = { id: 't1', status: { state: 'TASK_STATE_WORKING' } } as const;
export const MESSAGE: SendRequest = { message: userMessage('x') };

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json', ...headers } });
export const html = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('<h1>secret page</h1>', { status, headers: { 'Content-Type': 'text/html', ...headers } });
export const sse = (text: string): Response => new Response(text, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } });

type Answer = (request: Request) => Response | Promise<Response>;
/** A link whose peer is a function. */
export type OpenLink = (answer: Answer, more?: Partial<LinkOptions>) => A2AService;

export const rpcLink: OpenLink = (answer, more = {}) =>
  jsonRpcLink({ url: 'http://agent.example/a2a', dialect: v10, fetch: async (request) => await answer(request), ...more });
export const httpLink: OpenLink = (answer, more = {}) =>
  restLink({ url: 'http://agent.example/rest/', dialect: v10, fetch: async (request) => await answer(request), ...more });
export const LINKS: Readonly<Record<string, OpenLink>> = { 'JSON-RPC': rpcLink, 'HTTP+JSON': httpLink };
