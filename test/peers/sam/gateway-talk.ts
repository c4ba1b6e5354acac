import { SseParser } from '#bindings';
import type { Reply, Say, Talk } from '../talk.ts';
import { PeerError } from '../talk.ts';

interface WirePart {
  readonly kind: string;
  readonly text?: string;
  readonly data?: { readonly type?: string };
  readonly file?: { readonly name?: string; readonly mimeType?: string; readonly bytes?: string; readonly uri?: string };
}

interface WireResult {
  readonly kind: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly status?: { readonly state: string; readonly message?: { readonly parts: readonly WirePart[] } };
}

interface WireAnswer {
  readonly result?: WireResult;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * A person at SAM's HTTP gateway: posts a message for an agent, and reads the events of its task. The gateway makes a task of every message, and
 * has no A2A calls to get or list tasks: `get` returns what the events said.
 */
export function samGatewayTalk(url: string, agent: string): Talk {
  const known = new Map<string, Reply>();
  const events = async function* (say: Say): AsyncGenerator<Reply> {
    const begun = await post(`${url}/api/v1/message:stream`, requestFor(say, agent));
    const taskId = begun.id ?? '';
    for await (const { event, result } of eventsOf(url, taskId)) {
      const reply = replyOf(result);
      if (event === 'final_response') {
        known.set(taskId, reply);
        // The final answer repeats the text that was streamed.
        yield { ...reply, texts: [] };
        return;
      }
      if (reply.texts.length > 0 || reply.state !== undefined) yield reply;
    }
  };
  return {
    joinsText: true,
    send: async (say) => {
      let last: Reply | undefined;
      for await (const reply of events(say)) last = reply;
      return known.get(last?.taskId ?? '') ?? fail('the gateway sent no final response');
    },
    stream: async (say) => {
      const seen: Reply[] = [];
      for await (const reply of events(say)) seen.push(reply);
      return seen;
    },
    begin: async (say) => {
      const reading = events(say);
      const { value, done } = await reading.next();
      if (done === true) return fail('the stream ended before it named a task');
      void drain(reading).catch(() => undefined); // the test may end before the stream
      return value;
    },
    get: async (taskId) => known.get(taskId) ?? fail(`no event about ${taskId}`),
    cancel: async (taskId) => {
      const request = { jsonrpc: '2.0', id: crypto.randomUUID(), method: 'tasks/cancel', params: { id: taskId } };
      const response = await postJson(`${url}/api/v1/tasks/${taskId}:cancel`, request);
      if (!response.ok) fail(`cancel: HTTP ${response.status} ${await response.text()}`);
      return await settled(known, taskId);
    },
    close: async () => {},
  };
}

const SETTLE_MS_MAX = 60_000;

async function settled(known: ReadonlyMap<string, Reply>, taskId: string): Promise<Reply> {
  const until = Date.now() + SETTLE_MS_MAX;
  for (;;) {
    const reply = known.get(taskId);
    if (reply !== undefined) return reply;
    if (Date.now() > until) return fail(`${taskId} was not settled`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function drain(reading: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of reading);
}

function fail(message: string): never {
  throw new PeerError(message);
}

function requestFor({ text, contextId, file, data }: Say, agent: string): object {
  const parts: object[] = [{ kind: 'text', text }];
  if (file !== undefined) parts.push({ kind: 'file', file: { name: file.name, mimeType: file.mediaType, bytes: file.base64 } });
  if (data !== undefined) parts.push({ kind: 'data', data });
  const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts, metadata: { agent_name: agent } };
  return {
    jsonrpc: '2.0',
    id: crypto.randomUUID(),
    method: 'message/stream',
    params: { message: contextId === undefined ? message : { ...message, contextId } },
  };
}

function postJson(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

async function post(url: string, body: object): Promise<WireResult> {
  const response = await postJson(url, body);
  const answer = (await response.json()) as WireAnswer;
  return answer.result ?? fail(`HTTP ${response.status}: ${JSON.stringify(answer).slice(0, 300)}`);
}

const EVENT_BYTES_MAX = 50_000_000;

async function* eventsOf(url: string, taskId: string): AsyncGenerator<{ readonly event: string; readonly result: WireResult }> {
  const response = await fetch(`${url}/api/v1/sse/subscribe/${taskId}`);
  const parser = new SseParser(EVENT_BYTES_MAX);
  for await (const chunk of response.body ?? []) {
    for (const { event = '', data } of parser.push(chunk)) {
      const { result, error } = JSON.parse(data) as WireAnswer;
      if (error !== undefined) throw new PeerError(error.message, error.code);
      if (result !== undefined) yield { event, result };
    }
  }
}

/** Signals of SAM are data parts, too. They are no content. */
function replyOf({ id, taskId, contextId, status }: WireResult): Reply {
  const parts = (status?.message?.parts ?? []).filter(({ data }) => data?.type === undefined);
  const texts = parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const task = taskId ?? id;
  return {
    ...(task === undefined ? {} : { taskId: task }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(status === undefined ? {} : { state: status.state }),
    ...(texts.length === 0 ? {} : { note: texts.join('') }),
    texts,
    files: parts.flatMap(({ file }) =>
      file === undefined
        ? []
        : [
            {
              ...(file.name === undefined ? {} : { name: file.name }),
              ...(file.mimeType === undefined ? {} : { mediaType: file.mimeType }),
              ...(file.bytes === undefined ? {} : { base64: file.bytes }),
            },
          ],
    ),
    data: parts.flatMap(({ data }) => (data === undefined ? [] : [data])),
  };
}
