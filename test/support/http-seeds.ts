import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { corpus, corpusDialects } from './corpus.ts';
import type { Wire } from './malformed.ts';

const HANGS_MS = 15_000;

/** Good requests, to be changed: one to each route, and every recorded one. They carry the token. */
export function httpSeeds(port: number, token: string): readonly Wire[] {
  return [...routes(port, token), ...recorded(port, token)];
}

function head(port: number, token: string): Wire['headers'] {
  return [
    ['Host', `127.0.0.1:${port}`],
    ['Authorization', `Bearer ${token}`],
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
    ['Connection', 'close'],
  ];
}

/** One good request to each route, and to each kind of thing below it. */
function routes(port: number, token: string): readonly Wire[] {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const mcp = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const posts: readonly (readonly [string, string])[] = [
    ['/message:send', JSON.stringify({ message })],
    ['/message:stream', JSON.stringify({ message })],
    ['/v1/message:send', JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hello' }] } })],
    ['/tasks/x:cancel', '{}'],
    [
      '/tasks/x/pushNotificationConfigs',
      JSON.stringify({ url: 'http://127.0.0.1:9/hook', token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } }),
    ],
    [
      '/message:send',
      JSON.stringify({ message, configuration: { taskPushNotificationConfig: { url: 'http://127.0.0.1:9/hook', token: 't' } } }),
    ],
    [
      '/v1/chat/completions',
      JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], temperature: 1 }),
    ],
    [
      '/v1/chat/completions',
      JSON.stringify({
        model: 'echo',
        stream: true,
        messages: [
          { role: 'system', content: 'x' },
          { role: 'user', content: 'hi' },
        ],
      }),
    ],
    ['/agents/script/v1/chat/completions', JSON.stringify({ model: 'x', messages: [{ role: 'user', content: 'chunks=2' }] })],
    [
      '/v1/responses',
      JSON.stringify({
        ...{ model: 'echo', metadata: { a: 'b' }, conversation: { id: 'c' }, tools: [{ type: 'function', name: 'f', parameters: {} }] },
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
          { type: 'function_call_output', call_id: 'call_x', output: 'y' },
        ],
      }),
    ],
    ['/v1/responses', JSON.stringify({ model: 'echo', input: 'hi', background: true, previous_response_id: 'resp_eyJ9' })],
    ['/v1/conversations', '{}'],
    [
      '/ag-ui',
      JSON.stringify({
        ...{
          threadId: 't',
          runId: 'r',
          protocolVersion: '1.0',
          state: { a: 1 },
          tools: [{ name: 'x' }],
          context: [{ description: 'd', value: 'v' }],
        },
        messages: [
          {
            id: 'a-user-message-of-a-run',
            role: 'user',
            content: [{ type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } }],
          },
        ],
        forwardedProps: { a2a: { questions: 'text' } },
        resume: [{ interruptId: 'task:question', status: 'resolved', payload: { optionId: 'yes' } }],
      }),
    ],
    ['/mcp', mcp('initialize', initialize)],
    ['/mcp', mcp('tools/list', {})],
    ['/mcp', mcp('tools/call', { name: 'a2a__echo__echo', arguments: { message: 'hi' }, _meta: { progressToken: 1 } })],
    ['/agents/script/mcp', mcp('tools/call', { name: 'a2a__script__script', arguments: { message: 'hi' } })],
    ['/api/parley/v1/tasks/x:retry', '{}'],
    ['/api/parley/v1/push/deliveries/1:replay', '{}'],
  ];
  const gets = [
    ...[
      '/',
      '/healthz',
      '/readyz',
      '/metrics',
      '/.well-known/agent-card.json',
      '/.well-known/jwks.json',
      '/.well-known/ai-catalog.json',
      '/v1/models',
    ],
    ...[
      '/v1/models/echo',
      '/tasks',
      '/tasks?pageSize=5&status=TASK_STATE_COMPLETED&includeArtifacts=true',
      '/tasks/x',
      '/tasks/x:subscribe',
      '/mcp',
    ],
    ...['/extendedAgentCard', '/api/parley/v1/tasks?pageSize=5', '/api/parley/v1/tasks/x', '/api/parley/v1/tasks/x/events?after=1&limit=5'],
    ...[
      '/api/parley/v1/audit?after=0&limit=5',
      '/api/parley/v1/push/deliveries',
      '/agents/echo/.well-known/agent-card.json',
      '/console/',
      '/v1/card',
    ],
  ];
  return [
    ...posts.map(([target, body]): Wire => ({ method: 'POST', target, headers: head(port, token), body })),
    ...gets.map((target): Wire => ({ method: 'GET', target, headers: head(port, token).filter(([name]) => name !== 'Content-Type') })),
    ...['/tasks/x/pushNotificationConfigs/y', '/api/parley/v1/tasks/x', '/mcp'].map(
      (target): Wire => ({ method: 'DELETE', target, headers: head(port, token) }),
    ),
  ];
}

/** Every recorded request of every dialect. */
function recorded(port: number, token: string): readonly Wire[] {
  return corpusDialects()
    .flatMap((dialect) => corpus(dialect))
    .flatMap(({ request, rest, path = '/' }): readonly Wire[] => {
      if (request !== undefined) return [{ method: 'POST', target: path, headers: head(port, token), body: JSON.stringify(request) }];
      if (rest === undefined) return [];
      const body = rest.body === undefined ? {} : { body: JSON.stringify(rest.body) };
      return [{ method: rest.verb, target: rest.path, headers: head(port, token), ...body }];
    });
}

const HTTP2 = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const SETTINGS_FRAME = '\u0004';

/** The status, `closed` for a connection that ended without one, or what should not be. */
export function exchange(port: number, bytes: Buffer, hangsMs: number = HANGS_MS): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    const done = (outcome: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => done('hang'), hangsMs);
    const status = (): string | undefined => /^HTTP\/1\.1 ([2-9]\d\d)/m.exec(text)?.[1];
    socket.on('data', (piece: Buffer) => {
      text = (text + piece.toString('latin1')).slice(0, 20_000);
      // A stream may last as long as its task: that it began is enough.
      if (/^content-type: text\/event-stream/im.test(text)) done(status() ?? 'closed');
      // The client's side of HTTP/2 is answered with the settings of the server. The session may then stay open.
      if (text.charAt(3) === SETTINGS_FRAME && bytes.subarray(0, HTTP2.length).equals(HTTP2)) done('closed');
    });
    socket.on('error', (thrown: NodeJS.ErrnoException) => done(thrown.code === 'ECONNREFUSED' ? 'refused' : (status() ?? 'closed')));
    socket.on('close', () => done(status() ?? 'closed'));
    socket.on('end', () => done(status() ?? 'closed'));
    socket.on('connect', () => socket.end(bytes)); // nothing more comes, however much was promised
  });
}

/** Resident memory of a process. */
export function rssMib(pid: number): number {
  return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}
