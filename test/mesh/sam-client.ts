import type { Broker, ReceivedMessage } from '#mesh';
import type { Served, ServeOptions, Start } from './support.ts';
import { NAMESPACE, serveOn } from './support.ts';

export const BASE: string = `${NAMESPACE}/a2a/v1`;

/** A message to a SAM client, with the topic below `BASE`. */
export interface Told {
  readonly topic: string;
  readonly body: {
    readonly id: unknown;
    readonly result?: Record<string, unknown> & { status?: { state: string; message?: { parts: Record<string, unknown>[] } } };
    readonly error?: { code: number; message: string; data?: unknown };
  };
}

/** Messages exactly as SAM's own programs send and receive them, without a link of ours. */
export interface SamClient {
  readonly broker: Broker;
  readonly served: Served;
  readonly heard: Told[];
  on(topic: string): Told[];
  ask(body: unknown, properties?: Record<string, string>, agent?: string): Promise<void>;
}

const open: (() => Promise<void>)[] = [];

export async function closeSamClients(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

export async function samClient(start: Start, options: ServeOptions = {}): Promise<SamClient> {
  const ground = await start();
  open.push(() => ground.stop());
  const served = await serveOn(await ground.connect(), ['script', 'echo'], options);
  open.push(() => served.close());
  const broker = await ground.connect();
  open.push(() => broker.close());
  const heard: Told[] = [];
  const handle = ({ topic, payload }: ReceivedMessage): void =>
    void heard.push({ topic: topic.slice(BASE.length + 1), body: JSON.parse(new TextDecoder().decode(payload)) as Told['body'] });
  await broker.subscribe({ filter: `${BASE}/gateway/#`, handle });
  await broker.subscribe({ filter: `${BASE}/client/#`, handle });
  await broker.subscribe({ filter: `${BASE}/agent/response/#`, handle });
  const ask = async (body: unknown, properties: Record<string, string> = {}, agent = 'echo'): Promise<void> => {
    const payload = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
    await broker.publish({ topic: `${BASE}/agent/request/${agent}`, payload, properties });
  };
  return { broker, served, heard, ask, on: (topic) => heard.filter((told) => told.topic === topic) };
}

/** A request as SAM's documents write it. */
export const DOCUMENTED: Readonly<Record<'jsonrpc' | 'id' | 'method', string>> & { readonly params: { readonly message: object } } = {
  jsonrpc: '2.0',
  id: 'req_123',
  method: 'tasks/send',
  params: {
    message: {
      role: 'user',
      parts: [{ text: 'Validate this order' }],
      message_id: 'msg_abc',
      context_id: 'session_456',
      kind: 'message',
    },
  },
};

/** A request as SAM's programs send it. */
export function realRequest(id: string, text: string, more: object = {}): object {
  return {
    jsonrpc: '2.0',
    id,
    method: 'message/stream',
    params: {
      message: {
        kind: 'message',
        role: 'user',
        messageId: `msg-${id}`,
        contextId: 'gdk-session-1',
        parts: [{ kind: 'text', text }],
        ...more,
      },
    },
  };
}

/** The properties of a request of the gateway `gw_123`. */
export function propertiesTo(task: string, more: object = {}): Record<string, string> {
  return {
    clientId: 'gw_123',
    userId: 'ann',
    replyTo: `${BASE}/gateway/response/gw_123/${task}`,
    a2aStatusTopic: `${BASE}/gateway/status/gw_123/${task}`,
    ...more,
  };
}
