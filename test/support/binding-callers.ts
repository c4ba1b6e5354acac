import { request } from 'node:http';
import type { Requests, SendResult, Task } from '#protocol';
import { messageId, taskId } from '#protocol';
import { CODEC_V03 } from '../../src/bindings/grpc/adapters/codec-v03.ts';
import { CODEC_V10 } from '../../src/bindings/grpc/adapters/codec-v10.ts';
import { framed } from '../../src/bindings/grpc/framing.ts';
import { FrameParser } from '../../src/bindings/grpc/wire.ts';
import { countingEnv } from './env.ts';
import { grpcClient } from './grpc.ts';
import { sendBody } from './server.ts';

/** How a call ended, in the same words for every binding. */
export type Outcome = 'ok' | 'unauthenticated' | 'forbidden' | 'not-found' | 'exhausted' | string;

export interface BindingCall {
  readonly operation: 'send' | 'get';
  /** Headers, or metadata. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the caller calls the server. Default: its address. */
  readonly host?: string;
  /** The message. */
  readonly text?: string;
  /** The task to get. */
  readonly id?: string;
}

export interface BindingAnswer {
  readonly outcome: Outcome;
  readonly task?: Task;
}

/** A caller over one binding that shares no code with our client. */
export interface BindingCaller {
  readonly name: string;
  readonly dialect: string;
  call(port: number, call: BindingCall): Promise<BindingAnswer>;
}

const BY_HTTP: Readonly<Record<number, Outcome>> = {
  ...{ 200: 'ok', 401: 'unauthenticated', 403: 'forbidden', 404: 'not-found', 413: 'exhausted', 429: 'exhausted' },
};
const BY_GRPC: Readonly<Record<number, Outcome>> = { 0: 'ok', 16: 'unauthenticated', 7: 'forbidden', 5: 'not-found', 8: 'exhausted' };
const BY_RPC: Readonly<Record<number, Outcome>> = { [-32001]: 'not-found', [-31401]: 'unauthenticated', [-31403]: 'forbidden' };

const sent = ({ text = 'hi' }: BindingCall): Requests['send'] => ({
  message: { messageId: messageId(crypto.randomUUID()), role: 'ROLE_USER', parts: [{ text }] },
});
const got = ({ id = '' }: BindingCall): Requests['get'] => ({ id: taskId(id) });

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** A request of `node:http`, which lets the caller choose the `Host` header. */
function asked(port: number, path: string, { headers, host }: BindingCall, body?: string | Uint8Array): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST';
  const own = host === undefined ? {} : { Host: host };
  return new Promise((resolve, reject) => {
    const going = request({ host: '127.0.0.1', port, path, method, agent: false, headers: { ...headers, ...own } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces) }));
    });
    going.on('error', reject).end(body);
  });
}

function posted(port: number, path: string, call: BindingCall, body: object): Promise<Answer> {
  return asked(port, path, { ...call, headers: { ...call.headers, 'Content-Type': 'application/json' } }, JSON.stringify(body));
}

/** The task of a JSON answer: of a send, or the answer itself. */
function taskOf(json: unknown): Task | undefined {
  const { task, id } = json as Partial<SendResult & Task>;
  return task ?? (id === undefined ? undefined : (json as Task));
}

const JSON_RPC: BindingCaller['call'] = async (port, call) => {
  const params = call.operation === 'send' ? sendBody(call.text ?? 'hi') : { id: call.id };
  const method = call.operation === 'send' ? 'SendMessage' : 'GetTask';
  const { status, body } = await posted(port, '/a2a', call, { jsonrpc: '2.0', id: 1, method, params });
  const { error, result } = JSON.parse(body.toString()) as { error?: { code: number }; result?: unknown };
  if (error !== undefined) return { outcome: BY_RPC[error.code] ?? BY_HTTP[status] ?? String(error.code) };
  const task = taskOf(result);
  return { outcome: 'ok', ...(task === undefined ? {} : { task }) };
};

const REST: BindingCaller['call'] = async (port, call) => {
  const { status, body } =
    call.operation === 'send'
      ? await posted(port, '/message:send', call, sendBody(call.text ?? 'hi'))
      : await asked(port, `/tasks/${call.id}`, call);
  if (status !== 200) return { outcome: BY_HTTP[status] ?? `http ${status}` };
  const task = taskOf(JSON.parse(body.toString()));
  return { outcome: 'ok', ...(task === undefined ? {} : { task }) };
};

const grpc =
  (codec: typeof CODEC_V10): BindingCaller['call'] =>
  async (port, call) => {
    const client = grpcClient(port, codec, call.host === undefined ? {} : { authority: call.host });
    const metadata = Object.fromEntries(Object.entries(call.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
    try {
      if (call.operation === 'get') return { outcome: 'ok', task: await client.call('get', got(call), { metadata }) };
      const { task } = await client.call('send', sent(call), { metadata });
      return { outcome: 'ok', ...(task === undefined ? {} : { task }) };
    } catch (thrown) {
      const { code } = thrown as { code: number };
      return { outcome: BY_GRPC[code] ?? `grpc ${code}` };
    } finally {
      client.close();
    }
  };

const web =
  (type: string): BindingCaller['call'] =>
  async (port, call) => {
    const isFramed = type !== 'application/proto';
    const bytes = call.operation === 'send' ? CODEC_V10.encodeRequest('send', sent(call)) : CODEC_V10.encodeRequest('get', got(call));
    const path = `/lf.a2a.v1.A2AService/${CODEC_V10.methodOf(call.operation)?.name}`;
    const headers = { ...call.headers, 'Content-Type': type };
    const { status, body } = await asked(port, path, { ...call, headers }, isFramed ? framed([bytes]) : bytes);
    const code = /grpc-status: ?(\d+)/.exec(body.toString('latin1'))?.[1];
    const outcome = code === undefined ? (BY_HTTP[status] ?? `http ${status}`) : (BY_GRPC[Number(code)] ?? `grpc ${code}`);
    if (outcome !== 'ok') return { outcome };
    const message = isFramed ? new FrameParser(1e9).push(body)[0]?.bytes : body;
    const result = CODEC_V10.decodeResult(call.operation, message ?? new Uint8Array(), countingEnv());
    const task = taskOf(result);
    return { outcome, ...(task === undefined ? {} : { task }) };
  };

/** Every binding that a node serves on its port. */
export const BINDING_CALLERS: readonly BindingCaller[] = [
  { name: 'JSON-RPC', dialect: 'v10', call: JSON_RPC },
  { name: 'HTTP+JSON', dialect: 'v10', call: REST },
  { name: 'gRPC 1.0', dialect: 'v10', call: grpc(CODEC_V10) },
  { name: 'gRPC 0.3', dialect: 'v03.rest', call: grpc(CODEC_V03) },
  { name: 'gRPC-Web', dialect: 'v10', call: web('application/grpc-web+proto') },
  { name: 'Connect', dialect: 'v10', call: web('application/proto') },
];
