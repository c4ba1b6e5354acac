/**
 * PromptKit's A2A client (runtime/a2a at commit 86d9f367), as its Go code behaves: it posts to `/a2a` whatever the card says, gives up after 60
 * seconds, reads a body only under status 200, and refuses a whole answer for one state, part or timestamp that its types do not know.
 */
export interface Part {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly filename?: string;
  readonly mediaType?: string;
}

export interface Status {
  readonly state: string;
  readonly message?: { readonly parts: readonly Part[] };
  readonly timestamp?: string;
}

export interface PromptKitTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: Status;
  readonly artifacts?: readonly { readonly artifactId: string; readonly parts: readonly Part[] }[];
}

/** Exactly one of the two is there. */
export interface StreamEvent {
  readonly taskId: string;
  readonly contextId: string;
  readonly status?: Status;
  readonly artifact?: { readonly parts: readonly Part[] };
}

export interface OutgoingMessage {
  readonly parts: readonly Part[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A JSON-RPC error. Everything else is a plain error. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  constructor(code: number, message: string) {
    super(`a2a: rpc error ${code}: ${message}`);
    this.code = code;
  }
}

/** What its callers use: of this player, or of PromptKit's own client. */
export interface PromptKitApi {
  send(message: OutgoingMessage, configuration?: object): Promise<PromptKitTask>;
  get(id: string): Promise<PromptKitTask>;
  cancel(id: string): Promise<void>;
  list(contextId: string): Promise<readonly PromptKitTask[]>;
  stream(message: OutgoingMessage): AsyncGenerator<StreamEvent>;
  close(): unknown;
}

const CLIENT_MS = 60_000;
const SSE_MS = 1_800_000;
/** Its scanner stops for good at a longer line. */
const LINE_BYTES_MAX = 1 << 20;
const STATES = new Set(['submitted', 'working', 'completed', 'failed', 'canceled', 'input_required', 'rejected', 'auth_required']);
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export class PromptKitClient implements PromptKitApi {
  readonly base: string;
  #id = 0;

  constructor(url: string) {
    this.base = url.replace(/\/+$/, '');
  }

  async discover(): Promise<PromptKitCard> {
    const answer = await fetch(`${this.base}/.well-known/agent.json`, { signal: AbortSignal.timeout(CLIENT_MS) });
    if (answer.status !== 200) throw new Error(`a2a: discover: status ${answer.status}`);
    return (await answer.json()) as PromptKitCard;
  }

  async send(message: OutgoingMessage, configuration?: object): Promise<PromptKitTask> {
    return readTask(await this.#call('message/send', paramsOf(message, configuration)));
  }

  async get(id: string): Promise<PromptKitTask> {
    return readTask(await this.#call('tasks/get', { id }));
  }

  /** It does not read the result. */
  async cancel(id: string): Promise<void> {
    await this.#call('tasks/cancel', { id });
  }

  async list(contextId: string): Promise<readonly PromptKitTask[]> {
    const { tasks } = (await this.#call('tasks/list', { contextId })) as { readonly tasks: readonly unknown[] };
    return tasks.map(readTask);
  }

  stream(message: OutgoingMessage): AsyncGenerator<StreamEvent> {
    return this.#events('message/stream', paramsOf(message));
  }

  close(): void {}

  subscribe(id: string): AsyncGenerator<StreamEvent> {
    return this.#events('tasks/subscribe', { id });
  }

  async #call(method: string, params: object): Promise<unknown> {
    const answer = await this.#post(method, { params, ms: CLIENT_MS, headers: {} });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: { code: number; message: string } };
    if (error !== undefined) throw new RpcError(error.code, error.message);
    return result;
  }

  async *#events(method: string, params: object): AsyncGenerator<StreamEvent> {
    const answer = await this.#post(method, { params, ms: SSE_MS, headers: { accept: 'text/event-stream' } });
    let data = '';
    for await (const line of linesOf(answer)) {
      if (line.startsWith('data:')) data += (data === '' ? '' : '\n') + line.slice('data:'.length).replace(/^ /, '');
      if (line !== '' || data === '') continue;
      const event = parseEvent(data);
      data = '';
      if (event !== undefined) yield event;
    }
    const last = data === '' ? undefined : parseEvent(data);
    if (last !== undefined) yield last;
  }

  async #post(method: string, { params, ms, headers }: { params: object; ms: number; headers: Record<string, string> }): Promise<Response> {
    this.#id += 1;
    const answer = await fetch(`${this.base}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params }),
      signal: AbortSignal.timeout(ms),
    });
    if (answer.status !== 200) throw new Error(`a2a: ${method}: status ${answer.status}`);
    return answer;
  }
}

export interface PromptKitCard {
  readonly name: string;
  readonly skills?: readonly { readonly id: string; readonly name: string; readonly inputModes?: readonly string[] }[];
  readonly defaultInputModes?: readonly string[];
}

/** `messageId` has no `omitempty`, so it is sent empty. */
function paramsOf({ parts, ...rest }: OutgoingMessage, configuration?: object): object {
  return { message: { messageId: '', ...rest, role: 'user', parts }, ...(configuration === undefined ? {} : { configuration }) };
}

/** Anything that does not decode is skipped without a word, and so is an error. */
function parseEvent(data: string): StreamEvent | undefined {
  try {
    const { result } = JSON.parse(data) as { result?: object };
    const event = (result ?? {}) as StreamEvent;
    if (event.artifact !== undefined) event.artifact.parts.forEach(checkPart);
    else if (event.status !== undefined) checkStatus(event.status);
    else return undefined;
    return event;
  } catch {
    return undefined;
  }
}

function readTask(raw: unknown): PromptKitTask {
  const task = raw as PromptKitTask;
  if (typeof task.id !== 'string' || typeof task.contextId !== 'string') throw new Error('a2a: decode result');
  checkStatus(task.status);
  for (const { parts } of task.artifacts ?? []) parts.forEach(checkPart);
  return task;
}

function checkStatus({ state, message, timestamp }: Status): void {
  if (!STATES.has(state)) throw new Error(`a2a: invalid task state: ${JSON.stringify(state)}`);
  if (timestamp !== undefined && !RFC_3339.test(timestamp)) throw new Error(`a2a: parsing time ${timestamp}`);
  message?.parts.forEach(checkPart);
}

function checkPart({ text, raw, data, metadata }: Part): void {
  const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (text !== undefined && typeof text !== 'string') throw new Error('a2a: decode text');
  if (raw !== undefined && Buffer.from(raw, 'base64').toString('base64') !== raw) throw new Error('a2a: decode raw');
  if (data !== undefined && !isMap(data)) throw new Error('a2a: decode data');
  if (metadata !== undefined && !isMap(metadata)) throw new Error('a2a: decode metadata');
}

async function* linesOf(answer: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of answer.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (Buffer.byteLength(line) >= LINE_BYTES_MAX) return;
      yield line.replace(/\r$/, '');
    }
  }
  if (rest !== '') yield rest;
}
