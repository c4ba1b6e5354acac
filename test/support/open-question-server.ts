import type { Listening } from './listen.ts';
import { listen } from './listen.ts';

export interface OpenQuestionServer extends Listening {
  /** The texts of the answers that came. */
  readonly answers: readonly string[];
  /** Streams that are open now. */
  readonly open: () => number;
}

interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly message: { readonly parts: readonly { readonly text?: string }[]; readonly contextId?: string } };
}

const IDS = { taskId: 'task-uuid', contextId: 'ctx-uuid' };
const status = (state: string, text?: string): object => ({
  state,
  ...(text === undefined ? {} : { message: { kind: 'message', role: 'agent', messageId: text, parts: [{ kind: 'text', text }] } }),
});
const update = (state: string, final: boolean, text?: string): StreamEvent => ({
  kind: 'status-update',
  ...IDS,
  final,
  status: status(state, text),
});
const chunk = (text: string): StreamEvent => ({
  kind: 'artifact-update',
  ...IDS,
  append: true,
  artifact: { artifactId: 'art-uuid', name: 'assistant-response', parts: [{ kind: 'text', text }] },
});
const CARD = {
  name: 'coding-agent-a2a (cursor)',
  description: 'Delegates coding tasks.',
  protocolVersion: '0.3.0',
  version: '0.1.0',
  capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};

/** One event, with the members that the task is made of. */
interface StreamEvent {
  readonly kind: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly final?: boolean;
  readonly append?: boolean;
  readonly status?: object;
  readonly artifact?: {
    readonly artifactId: string;
    readonly name: string;
    readonly parts: readonly { readonly kind: string; readonly text: string }[];
  };
}

/**
 * A server of A2A 0.3 with the events that coding-agent-a2a documents: at an approval the state is `input-required`, not final, and the
 * stream stays open. The answer comes by `message/send`, and the rest of the work is only on the first stream. It asks as many questions as
 * the first message says. A reader that left the stream can ask for the task.
 */
export async function openQuestionServer(): Promise<OpenQuestionServer> {
  const answers: string[] = [];
  let resume: ((text: string) => void) | undefined;
  let streams = 0;
  let now = status('working');
  let said = '';
  const stream = ({ id, params }: RpcCall): Response => {
    const questions = Number(params.message.parts[0]?.text);
    const encoder = new TextEncoder();
    let isLeft = false;
    const body = new ReadableStream<Uint8Array>({
      start: async (to) => {
        streams += 1;
        const write = (result: StreamEvent): void => {
          now = result.status ?? now;
          said += result.artifact?.parts.map(({ text }) => text).join('') ?? '';
          if (!isLeft) to.enqueue(encoder.encode(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`));
        };
        write(update('working', false));
        write(chunk('before '));
        for (let at = 1; at <= questions; at += 1) {
          write(update('input-required', false, `Approve: rm ${at}?`));
          const text = await new Promise<string>((resolve) => {
            resume = resolve;
          });
          write(update('working', false));
          write(chunk(`after ${text} `));
        }
        write(update('completed', true));
        if (!isLeft) to.close();
        streams -= isLeft ? 0 : 1;
      },
      cancel: () => {
        isLeft = true;
        streams -= 1;
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  };
  const server: Listening = await listen(async (request) => {
    if (request.method === 'GET') return Response.json({ ...CARD, url: `${server.url}/a2a/jsonrpc` });
    const call = (await request.json()) as RpcCall;
    if (call.method === 'tasks/get') {
      const artifacts = [{ artifactId: 'art-uuid', name: 'assistant-response', parts: [{ kind: 'text', text: said }] }];
      const task = { kind: 'task', id: IDS.taskId, contextId: IDS.contextId, status: now, artifacts };
      return Response.json({ jsonrpc: '2.0', id: call.id, result: task });
    }
    if (call.method === 'message/stream' && resume === undefined) return stream(call);
    if (call.method !== 'message/send' || resume === undefined || call.params.message.contextId !== IDS.contextId)
      return Response.json({ jsonrpc: '2.0', id: call.id, error: { code: -32601, message: 'Method not found' } });
    const text = call.params.message.parts.map((part) => part.text ?? '').join('');
    answers.push(text);
    const go = resume;
    resume = undefined;
    go(text);
    return Response.json({
      jsonrpc: '2.0',
      id: call.id,
      result: { kind: 'task', id: IDS.taskId, contextId: IDS.contextId, status: status('working') },
    });
  });
  return { ...server, answers, open: () => streams };
}
