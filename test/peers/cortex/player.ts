/**
 * CortexPrism's A2A client and tool wrapper (src/a2a and packages/server/src/a2a at commit 0c44657), as its code behaves: it takes the address
 * from `card.interfaces`, reads every body whatever its status is, and of a stream only lines that begin with `data: `.
 */
export interface CortexPart {
  readonly text?: string;
  readonly data?: unknown;
  readonly file?: { readonly name?: string; readonly mimeType?: string; readonly bytes?: string };
}

export interface CortexTask {
  readonly id: string;
  readonly contextId?: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly CortexPart[] } };
  readonly artifacts?: readonly { readonly parts: readonly CortexPart[] }[];
}

export interface CortexMessage {
  readonly parts: readonly CortexPart[];
  readonly contextId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

interface Card {
  readonly name: string;
  readonly interfaces: readonly { readonly url: string; readonly protocol: string }[];
}

export interface StatusEvent {
  readonly taskId: string;
  readonly state: string;
  readonly final: boolean;
}

/** What its callers use: of this player, or of CortexPrism's own code. */
export interface CortexApi {
  fetchCard(endpoint: string): Promise<Card>;
  call(card: Card, method: string, params: object): Promise<unknown>;
  sendStreaming(card: Card, message: CortexMessage, on: StreamReader): Promise<CortexTask>;
  createToolWrapper(endpoint: string): (args: { message: string; contextId?: string }) => Promise<ToolResult>;
}

interface StreamReader {
  readonly chunk: (text: string) => void;
  readonly status: (event: StatusEvent) => void;
}

const CALL_MS = 120_000;
const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

export async function fetchCard(endpoint: string): Promise<Card> {
  const answer = await fetch(`${endpoint}${endpoint.endsWith('/') ? '' : '/'}.well-known/agent-card.json`, {
    headers: { accept: 'application/json', 'a2a-version': '1.0' },
  });
  if (!answer.ok) throw new Error(`Failed to fetch agent card: ${answer.status}`);
  return (await answer.json()) as Card;
}

function endpointOf(card: Card): string {
  const found = card.interfaces.find(({ protocol }) => protocol === 'json-rpc') ?? card.interfaces[0];
  if (found === undefined) throw new Error(`No compatible interface found on agent ${card.name}`);
  return found.url;
}

export async function call(card: Card, method: string, params: object): Promise<unknown> {
  const answer = await post(card, method, params);
  const { result, error } = (await answer.json()) as { result?: unknown; error?: { code: number; message: string } };
  if (error) throw new Error(`A2A RPC error ${error.code}: ${error.message}`);
  return result;
}

function post(card: Card, method: string, params: object): Promise<Response> {
  return fetch(endpointOf(card), {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ jsonrpc: '2.0', method, params, id: crypto.randomUUID() }),
    signal: AbortSignal.timeout(CALL_MS),
  });
}

export function requestOf({ parts, contextId, metadata }: CortexMessage): object {
  const about = { ...(contextId === undefined ? {} : { contextId }), ...metadata };
  return {
    message: { messageId: crypto.randomUUID(), role: 'user', parts, ...(Object.keys(about).length === 0 ? {} : { metadata: about }) },
  };
}

/** Returns the last task of the stream. Text comes from `result.message` only; artifact events are not read. */
export async function sendStreaming(card: Card, message: CortexMessage, on: StreamReader): Promise<CortexTask> {
  const answer = await post(card, 'SendStreamingMessage', requestOf(message));
  if (!answer.ok) throw new Error(`A2A streaming error: ${answer.status}`);
  const decoder = new TextDecoder();
  let rest = '';
  let last: CortexTask | undefined;
  for await (const bytes of answer.body ?? []) {
    const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const trimmed = line.trim();
      if (!trimmed.startsWith('data: ') || trimmed === 'data: [DONE]') continue;
      last = readFrame(trimmed.slice('data: '.length), on) ?? last;
    }
  }
  if (last === undefined) throw new Error('Stream ended without task result');
  return last;
}

interface Frame {
  readonly type?: string;
  readonly taskId: string;
  readonly status?: { readonly state: string };
  readonly final: boolean;
  readonly result?: { readonly task?: CortexTask; readonly message?: { readonly parts?: readonly CortexPart[] } };
}

function readFrame(data: string, on: StreamReader): CortexTask | undefined {
  let frame: Frame;
  try {
    frame = JSON.parse(data);
  } catch {
    return undefined; // malformed lines are skipped
  }
  for (const { text } of frame.result?.message?.parts ?? []) if (text) on.chunk(text);
  if (frame.type === 'TaskStatusUpdateEvent')
    on.status({ taskId: frame.taskId, state: frame.status?.state ?? 'unknown', final: frame.final });
  return frame.result?.task;
}

export interface ToolResult {
  readonly success: boolean;
  readonly output: string;
  readonly truncated: boolean;
}

/** The tool that Cortex makes of a remote agent. It prefers artifacts to the status message, also an empty list. */
export function createToolWrapper(endpoint: string): (args: { message: string; contextId?: string }) => Promise<ToolResult> {
  let cached: Card | undefined;
  return async ({ message, contextId }) => {
    try {
      cached ??= await fetchCard(endpoint);
      const request = requestOf({ parts: [{ text: message }], ...(contextId === undefined ? {} : { contextId }) });
      const task = (await call(cached, 'SendMessage', request)) as CortexTask;
      const textOf = (parts: readonly CortexPart[]) => parts.filter(({ text }) => text).map(({ text }) => text);
      const output =
        task.artifacts?.flatMap(({ parts }) => textOf(parts)).join('\n') ??
        (task.status.message === undefined ? undefined : textOf(task.status.message.parts).join('\n')) ??
        `Task ${task.id}: ${task.status.state}`;
      return { success: task.status.state === 'TASK_STATE_COMPLETED', output, truncated: output.length > 8000 };
    } catch (error) {
      cached = undefined;
      return { success: false, output: error instanceof Error ? error.message : String(error), truncated: false };
    }
  };
}

export interface DirectiveResult {
  readonly status: string;
  readonly output?: string;
  readonly error?: string;
}

const STATUS: Readonly<Record<string, string>> = {
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'cancelled',
};

/** Cortex's swarm transport. A state that it does not know counts as completed. */
export async function sendDirective(endpoint: string, kind: string, payload: object): Promise<DirectiveResult> {
  const id = `dir_${crypto.randomUUID()}`;
  const card = await fetchCard(endpoint.replace(/\/a2a$/, ''));
  const request = {
    message: {
      messageId: id,
      role: 'user',
      parts: [{ text: JSON.stringify({ kind, payload, priority: 'normal', sourceNodeId: 'node-a' }) }],
      metadata: { contextId: `swarm.${id}`, swarmKind: kind, swarmPriority: 'normal', swarmSourceNodeId: 'node-a' },
    },
    configuration: { blocking: true, acceptedOutputModes: ['text'], historyLength: 0 },
  };
  const task = (await call(card, 'SendMessage', request)) as CortexTask;
  const output = task.artifacts?.flatMap(({ parts }) => parts.flatMap(({ text }) => (text ? [text] : []))).join('\n');
  const parsed = parsedOf(output);
  const failure = task.status.state === 'TASK_STATE_FAILED' ? task.status.message?.parts.find(({ text }) => text)?.text : undefined;
  const told = parsed?.response ?? output;
  const error = parsed?.error ?? failure;
  return {
    status: STATUS[task.status.state] ?? 'completed',
    ...(told === undefined ? {} : { output: told }),
    ...(error === undefined ? {} : { error }),
  };
}

function parsedOf(output: string | undefined): { readonly response?: string; readonly error?: string } | undefined {
  try {
    return output ? (JSON.parse(output) as { response?: string; error?: string }) : undefined;
  } catch {
    return undefined;
  }
}

export const player: CortexApi = { fetchCard, call, sendStreaming, createToolWrapper };
