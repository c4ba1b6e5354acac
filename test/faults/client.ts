import type { AdminTask, Task, TaskEvent } from '#protocol';

/** A client for HTTP+JSON 1.0 made of `fetch` alone, so that the tests do not check our code with our own client. */
export interface SendOptions {
  readonly messageId?: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly returnImmediately?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

let count = 0;
const run = Math.random().toString(36).slice(2, 8);

/** A new, unused name. */
export function freshName(kind: string): string {
  count += 1;
  return `${kind}-${run}-${count}`;
}

export function sendInit(text: string, options: SendOptions = {}): RequestInit {
  const { messageId = freshName('m'), contextId, taskId, returnImmediately, headers, signal } = options;
  const message = { messageId, contextId, taskId, role: 'ROLE_USER', parts: [{ text }] };
  const configuration = returnImmediately === undefined ? undefined : { returnImmediately };
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ message, configuration }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Throws if the response is not a task. */
export async function sendTask(url: string, text: string, options: SendOptions = {}): Promise<Task> {
  const response = await fetch(`${url}/message:send`, sendInit(text, options));
  const body = (await response.json()) as { readonly task?: Task };
  if (body.task === undefined) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body.task;
}

export async function getTask(url: string, id: string): Promise<Task> {
  return (await getJson(`${url}/tasks/${id}`)) as Task;
}

export async function getJson(url: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
}

export interface LoggedEvent {
  readonly seq: number;
  readonly event: TaskEvent;
}

/** The whole log, read over the admin API. Undefined: there is no such task. */
export async function logOf(url: string, id: string): Promise<readonly LoggedEvent[] | undefined> {
  const all: LoggedEvent[] = [];
  for (;;) {
    const response = await fetch(`${url}/api/parley/v1/tasks/${id}/events?after=${all.at(-1)?.seq ?? 0}`);
    if (response.status === 404) return undefined;
    const { events } = (await response.json()) as { readonly events: readonly LoggedEvent[] };
    if (events.length === 0) return all;
    all.push(...events);
  }
}

export async function tasksWhere(url: string, query: string): Promise<readonly AdminTask[]> {
  return ((await getJson(`${url}/api/parley/v1/tasks?${query}`)) as { readonly tasks: readonly AdminTask[] }).tasks;
}

/** All text of all artifacts. */
export function textOf({ artifacts = [] }: Task): string {
  return artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('');
}

/** The text that `script` produces for `chunks=N`. */
export function chunksText(chunks: number): string {
  return Array.from({ length: chunks }, (_, at) => `chunk ${at + 1}`).join('');
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
