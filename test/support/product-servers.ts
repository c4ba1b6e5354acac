import type { Listening } from './listen.ts';
import { listen } from './listen.ts';

interface RpcCall {
  readonly id: string;
  readonly method: string;
  readonly params: {
    readonly id?: string;
    readonly message: { readonly parts: readonly { readonly text?: string }[]; readonly metadata?: { readonly contextId?: string } };
  };
}

/** A server that answers with all texts of the same conversation. */
export interface RecallingServer extends Listening {
  /** The methods that were called. */
  readonly methods: readonly string[];
}

const textOf = ({ params }: RpcCall): string => params.message.parts.map(({ text = '' }) => text).join('');

/** Adds to a conversation and returns all of it. */
function recall(): (conversation: string, text: string) => string {
  const told = new Map<string, string[]>();
  return (conversation, text) => {
    const all = told.get(conversation) ?? [];
    told.set(conversation, [...all, text]);
    return [...all, text].join(', ');
  };
}

/** The agent of a Society daemon: the thread is `params.id`, and answers name no context. */
export async function societyServer(): Promise<RecallingServer> {
  const [methods, add] = [[] as string[], recall()];
  const server: Listening = await listen(async (request) => {
    if (request.method === 'GET' && new URL(request.url).pathname.startsWith('/.well-known/agent'))
      return Response.json({
        name: 'claude',
        description: 'Claude Code',
        url: server.url,
        version: '1.0.0',
        capabilities: {},
        defaultInputModes: ['text/plain'],
        defaultOutputModes: ['text/plain'],
        skills: [{ id: 'chat', name: 'Chat' }],
      });
    if (request.method !== 'POST') return new Response('404 page not found', { status: 404 });
    const call = (await request.json()) as RpcCall;
    methods.push(call.method);
    if (call.method !== 'tasks/send')
      return Response.json({ jsonrpc: '2.0', id: call.id, error: { code: -32601, message: `method not found: ${call.method}` } });
    const thread = call.params.id ?? '';
    const artifacts = [{ parts: [{ type: 'text', text: add(thread, textOf(call)) }] }];
    return Response.json({ jsonrpc: '2.0', id: call.id, result: { id: thread, status: { state: 'completed' }, artifacts } });
  });
  return { ...server, methods };
}

/** CortexPrism: a send keeps the context of `metadata.contextId`; a stream ignores it. Tasks have no context id. */
export async function cortexServer(): Promise<RecallingServer> {
  const [methods, add] = [[] as string[], recall()];
  let tasks = 0;
  const server: Listening = await listen(async (request) => {
    if (request.method === 'GET')
      return new URL(request.url).pathname === '/.well-known/agent-card.json'
        ? Response.json({
            name: 'Cortex',
            description: 'An agent.',
            url: server.url,
            version: '1.0',
            defaultInputModes: ['text'],
            defaultOutputModes: ['text'],
            capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
            skills: [{ id: 'chat', name: 'Chat', description: 'Talks.', tags: [] }],
            interfaces: [{ url: `${server.url}/a2a`, protocol: 'json-rpc', version: '1.0' }],
          })
        : new Response('not here', { status: 404 });
    const call = (await request.json()) as RpcCall;
    methods.push(call.method);
    if (!call.method.startsWith('Send')) return Response.json({ jsonrpc: '2.0', id: call.id, result: null });
    tasks += 1;
    const isStream = call.method === 'SendStreamingMessage';
    const context = isStream ? undefined : call.params.message.metadata?.contextId;
    const text = add(context ?? `none-${tasks}`, textOf(call));
    const status = { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() };
    const task = {
      id: `t-${tasks}`,
      status,
      history: [{ messageId: `m-${tasks}`, role: 'user', parts: call.params.message.parts }],
      artifacts: [{ artifactId: `t-${tasks}-artifact-0`, parts: [{ text }] }],
    };
    const envelope = JSON.stringify({ jsonrpc: '2.0', id: call.id, result: { task } });
    if (!isStream) return new Response(envelope, { headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' } });
    return new Response(`data: ${envelope}\n\ndata: [DONE]\n\n`, { headers: { 'Content-Type': 'text/event-stream' } });
  });
  return { ...server, methods };
}
