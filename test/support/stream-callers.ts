import { randomUUID } from 'node:crypto';
import { grpcClient } from './grpc.ts';

/** What to say, and in which conversation. */
export interface Said {
  readonly text: string;
  readonly contextId?: string;
  /** Called with what the stream has shown so far. */
  readonly onText?: (text: string) => void;
}

/** A streamed answer. */
export interface StreamedAnswer {
  /** The pieces of the text, put together. */
  readonly text: string;
  /** The stream said that the answer is complete. */
  readonly isWhole: boolean;
}

/** Streams one answer over one binding, without any code of our client. */
export interface StreamCaller {
  readonly name: string;
  stream(url: string, said: Said): Promise<StreamedAnswer>;
}

/** What one event adds to the answer. */
type Read = (event: Record<string, unknown>) => { readonly text?: string | undefined; readonly isEnd?: boolean };

interface A2AEvent {
  readonly artifactUpdate?: { readonly artifact: { readonly parts: readonly { readonly text?: string }[] } };
  readonly statusUpdate?: { readonly status: { readonly state: string } };
}

const readA2A = ({ artifactUpdate, statusUpdate }: A2AEvent): ReturnType<Read> => ({
  text: artifactUpdate?.artifact.parts.map(({ text = '' }) => text).join(''),
  isEnd: statusUpdate?.status.state === 'TASK_STATE_COMPLETED',
});

const messageOf = ({ text, contextId }: Said): object => ({ messageId: randomUUID(), contextId, role: 'ROLE_USER', parts: [{ text }] });

/** Puts the pieces of an answer together. */
class Gathering {
  text = '';
  isWhole = false;
  readonly #read: Read;
  readonly #onText: Said['onText'];

  constructor(read: Read, { onText }: Said) {
    this.#read = read;
    this.#onText = onText;
  }

  add(event: unknown): void {
    const { text = '', isEnd = false } = this.#read(event as Record<string, unknown>);
    this.text += text;
    this.isWhole ||= isEnd;
    if (text !== '') this.#onText?.(this.text);
  }
}

async function posted(url: string, type: string, body: string | Uint8Array<ArrayBuffer>): Promise<AsyncIterable<Uint8Array>> {
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': type, 'A2A-Version': '1.0' }, body });
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  return response.body;
}

/** Server-sent events, whose data is JSON. */
function bySse(name: string, path: string, bodyOf: (said: Said) => object, read: Read): StreamCaller {
  const stream = async (url: string, said: Said): Promise<StreamedAnswer> => {
    const gathered = new Gathering(read, said);
    let rest = '';
    const decoder = new TextDecoder();
    for await (const piece of await posted(`${url}${path}`, 'application/json', JSON.stringify(bodyOf(said)))) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data: ')) gathered.add(line === 'data: [DONE]' ? { isDone: true } : JSON.parse(line.slice(6)));
    }
    return gathered;
  };
  return { name, stream };
}

/** The frames of Connect and gRPC-Web, whose messages are JSON. `endFlag`: the frame that says how the call ended. */
function byFrames(name: string, type: string, endFlag: number, isOk: (end: string) => boolean): StreamCaller {
  const stream = async (url: string, said: Said): Promise<StreamedAnswer> => {
    const message = Buffer.from(JSON.stringify({ message: messageOf(said) }));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    const gathered = new Gathering(readA2A, said);
    let isOver = false;
    let rest = Buffer.alloc(0);
    for await (const piece of await posted(`${url}/lf.a2a.v1.A2AService/SendStreamingMessage`, type, Buffer.concat([head, message]))) {
      rest = Buffer.concat([rest, piece]);
      for (let end = 5; rest.length >= 5; rest = rest.subarray(end)) {
        end = 5 + rest.readUInt32BE(1);
        if (rest.length < end) break;
        const payload = rest.toString('utf8', 5, end);
        if (rest[0] === endFlag) isOver = isOk(payload);
        else gathered.add(JSON.parse(payload));
      }
    }
    return { text: gathered.text, isWhole: gathered.isWhole && isOver };
  };
  return { name, stream };
}

const BY_GRPC: StreamCaller = {
  name: 'gRPC',
  stream: async (url, said) => {
    const client = grpcClient(Number(new URL(url).port));
    const gathered = new Gathering(readA2A, said);
    try {
      const stream = client.stream('stream', { message: messageOf(said) } as never, { onEvent: ({ event }) => gathered.add(event) });
      const { code, message } = await stream.ended;
      if (code !== 0) throw new Error(`gRPC ended with ${code} ${message}`);
      return gathered;
    } finally {
      client.close();
    }
  },
};

const readChat: Read = (event) => {
  const { choices = [] } = event as { readonly choices?: readonly { readonly delta: { readonly content?: string } }[] };
  if (event['error'] !== undefined) throw new Error(JSON.stringify(event));
  return { text: choices[0]?.delta.content, isEnd: event['isDone'] === true };
};
const readResponse: Read = ({ type, delta }) => ({
  text: type === 'response.output_text.delta' ? String(delta) : undefined,
  isEnd: type === 'response.completed',
});
const readAgUi: Read = ({ type, delta }) => ({
  text: type === 'TEXT_MESSAGE_CONTENT' ? String(delta) : undefined,
  isEnd: type === 'RUN_FINISHED',
});
const readRpc: Read = ({ result }) => readA2A((result ?? {}) as A2AEvent);

/** Every binding that streams. The agent at the root is called `script`. */
export const STREAM_CALLERS: readonly StreamCaller[] = [
  bySse('HTTP+JSON', '/message:stream', (said) => ({ message: messageOf(said) }), readA2A as Read),
  bySse(
    'JSON-RPC',
    '/a2a',
    (said) => ({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message: messageOf(said) } }),
    readRpc,
  ),
  BY_GRPC,
  byFrames('Connect', 'application/connect+json', 2, (end) => !end.includes('error')),
  byFrames('gRPC-Web', 'application/grpc-web+json', 0x80, (end) => /grpc-status: ?0/.test(end)),
  bySse(
    'chat completions',
    '/v1/chat/completions',
    ({ text, contextId }) => ({
      ...{ model: 'script', stream: true, messages: [{ role: 'user', content: text }] },
      ...(contextId === undefined ? {} : { metadata: { contextId } }),
    }),
    readChat,
  ),
  bySse(
    'Responses',
    '/v1/responses',
    ({ text, contextId }) => ({
      model: 'script',
      stream: true,
      input: text,
      ...(contextId === undefined ? {} : { conversation: contextId }),
    }),
    readResponse,
  ),
  bySse(
    'AG-UI',
    '/ag-ui',
    ({ text, contextId = randomUUID() }) => ({
      ...{ threadId: contextId, runId: randomUUID(), tools: [], context: [], state: {}, forwardedProps: {} },
      messages: [{ id: randomUUID(), role: 'user', content: text }],
    }),
    readAgUi,
  ),
];
