import type { Task } from '#protocol';
import { isTerminal } from '#protocol';
import { chunksText, freshName, pause, sendInit, textOf } from '../client.ts';
import { eventOf, framesOf } from '../frames.ts';
import type { Journal } from './journal.ts';
import { callersWebhook } from './webhook.ts';

/** Where a caller sends its requests, and what it records. */
export interface Caller {
  readonly journal: Journal;
  /** The address for the next request. */
  readonly front: () => string;
  /** How long it repeats a request before it counts as never answered. */
  readonly patienceMs: number;
}

/** A fault that a caller answers by repeating its request. */
export class Refused extends Error {}

const REQUEST_MS_MAX = 20_000;
const AGAIN_MS = 50;
/** JSON-RPC: 1.0 and 0.3, and 0.1. */
const UNAVAILABLE: ReadonlySet<unknown> = new Set([-31_503, -32_011]);

/** Whether a connection broke, or a stream ended too early. */
function isBroken(thrown: unknown): boolean {
  return (
    thrown instanceof Refused ||
    (thrown instanceof Error &&
      (thrown.name === 'TimeoutError' ||
        /fetch failed|terminated|other side closed|aborted|not valid JSON|JSON input/.test(thrown.message)))
  );
}

/** Repeats a request until it is answered. Throws what no caller should see. */
export async function persist<T>({ journal, patienceMs }: Caller, what: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + patienceMs; ; await pause(AGAIN_MS)) {
    journal.requests += 1;
    try {
      return await what();
    } catch (thrown) {
      if (!isBroken(thrown)) throw thrown;
      const cause = thrown instanceof Error && thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
      journal.refuse(`${String(thrown).slice(0, 80)}${cause}`);
      if (performance.now() > end) throw new Error(`not answered within ${patienceMs} ms: ${String(thrown)}`);
    }
  }
}

/** Throws `Refused` for what a load balancer or a busy node answers. */
export async function reach(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_MS_MAX) });
  if (![502, 503, 504].includes(response.status)) return response;
  await response.arrayBuffer();
  // nginx answers 502 and 504 by itself. A node says when to come back.
  if (response.status === 503 && response.headers.get('retry-after') === null) throw new Error('a 503 without Retry-After');
  throw new Refused(String(response.status));
}

async function jsonOf<T>(response: Response): Promise<T> {
  const body = (await response.json()) as T;
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
}

interface RpcAnswer<T> {
  readonly result?: T;
  readonly error?: { readonly code: number; readonly message: string };
}

function rpcInit(method: string, params: object, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body };
}

function resultOf<T>({ result, error }: RpcAnswer<T>): T {
  if (error !== undefined && UNAVAILABLE.has(error.code)) throw new Refused(`${error.code}`);
  if (result === undefined) throw new Error(`JSON-RPC error ${JSON.stringify(error)}`);
  return result;
}

async function rpc<T>(url: string, init: RequestInit, path = '/a2a'): Promise<T> {
  return resultOf((await (await reach(`${url}${path}`, init)).json()) as RpcAnswer<T>);
}

/** A get does not show its version. */
const V01 = '/a2a?dialect=v01';
const V10 = { 'A2A-Version': '1.0' };

async function fetched(caller: Caller, id: string): Promise<Task> {
  return persist(caller, async () => jsonOf<Task>(await reach(`${caller.front()}/tasks/${id}`)));
}

/** Records a final answer, and compares it with what another request reads right afterwards. */
async function record(caller: Caller, id: string, expected: { readonly state: string; readonly text: string }): Promise<void> {
  caller.journal.facts.push({ id, ...expected });
  const now = await fetched(caller, id);
  const shown = `${now.status.state} ${textOf(now)}`;
  if (shown !== `${expected.state} ${expected.text}`) throw new Error(`${id} was ${expected.state} ${expected.text}, a get shows ${shown}`);
}

const COMPLETED = 'TASK_STATE_COMPLETED';
const chunksNow = (): number => 1 + Math.floor(Math.random() * 8);

/** 1.0 over JSON-RPC: a blocking send, and a get. */
export async function sendByRpc(caller: Caller): Promise<void> {
  const [name, chunks] = [freshName('job-rpc'), chunksNow()];
  const message = { messageId: name, contextId: name, role: 'ROLE_USER', parts: [{ text: `chunks=${chunks}` }] };
  const { task } = await persist(caller, () => rpc<{ task: Task }>(caller.front(), rpcInit('SendMessage', { message }, V10)));
  if (task.status.state !== COMPLETED) throw new Error(`a blocking send ended as ${task.status.state}`);
  await record(caller, task.id, { state: COMPLETED, text: chunksText(chunks) });
}

interface OldTask {
  readonly id: string;
  readonly status: { readonly state: string };
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}

/** 0.1: the caller names the task, and its message has no id. A key makes a repetition the same send. */
export async function sendNamed(caller: Caller): Promise<void> {
  const [name, chunks] = [freshName('named'), chunksNow()];
  const message = { role: 'user', parts: [{ type: 'text', text: `chunks=${chunks}` }] };
  const init = rpcInit('tasks/send', { id: name, message }, { 'Idempotency-Key': name });
  const sent = await persist(caller, () => rpc<OldTask>(caller.front(), init, V01));
  const read = await persist(caller, () => rpc<OldTask>(caller.front(), rpcInit('tasks/get', { id: name }), V01));
  for (const task of [sent, read]) {
    const text = (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => part.text ?? '')).join('');
    if (task.id !== name || task.status.state !== 'completed' || text !== chunksText(chunks))
      throw new Error(`the task ${name} is ${JSON.stringify(task)}`);
  }
}

/** A send of 1.0 with a context, or of 0.1 with a task name. An empty key is none. */
export type SendAs =
  | { readonly context: string; readonly messageId: string; readonly key: string }
  | { readonly alias: string; readonly key: string };

/** Sends, and returns the id of the task. */
export async function sendAs(caller: Caller, as: SendAs): Promise<string> {
  const headers = as.key === '' ? {} : { 'Idempotency-Key': as.key };
  if ('alias' in as) {
    const init = rpcInit('tasks/send', { id: as.alias, message: { role: 'user', parts: [{ type: 'text', text: 'chunks=2' }] } }, headers);
    return (await persist(caller, () => rpc<OldTask>(caller.front(), init, V01))).id;
  }
  return (await sendRest(caller, sendInit('chunks=2', { messageId: as.messageId, contextId: as.context, headers }))).id;
}

interface OldEvent {
  readonly kind: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly status?: { readonly state: string };
  readonly artifact?: { readonly parts: readonly { readonly text?: string }[] };
}

/** How far a caller has read a stream of 0.3. */
interface OldPlace {
  id: string | undefined;
  last: number;
  text: string;
}

/** Reads one connection of a stream. Throws if an event is missing or repeated, and `Refused` if the stream ends too early. */
async function readOld(response: Response, place: OldPlace): Promise<void> {
  const isResumed = place.id !== undefined;
  let isOver = false;
  for await (const frame of framesOf(response)) {
    if (frame.data === undefined) continue;
    const event = resultOf(JSON.parse(frame.data) as RpcAnswer<OldEvent>);
    const seq = Number(frame.id);
    const isNext = event.kind === 'task' ? !isResumed || seq === place.last : seq === place.last + 1;
    if (!isNext) throw new Error(`${place.id}: ${place.last}, and then ${frame.raw}`);
    place.last = seq;
    place.id = event.taskId ?? event.id;
    for (const part of event.artifact?.parts ?? []) place.text += part.text ?? '';
    isOver = event.status?.state === 'completed';
  }
  if (!isOver) throw new Refused('the stream ended before its task');
}

/** 0.3: a stream, resumed after its last event when it breaks. */
export async function streamOld(caller: Caller): Promise<void> {
  const [name, chunks] = [freshName('job-old'), 5 + chunksNow()];
  const parts = [{ kind: 'text', text: `chunks=${chunks} delay=3` }];
  const message = { kind: 'message', messageId: name, contextId: name, role: 'user', parts };
  const place: OldPlace = { id: undefined, last: 0, text: '' };
  await persist(caller, async () => {
    const resumed = { 'Last-Event-ID': String(place.last) };
    const init = place.id === undefined ? rpcInit('message/stream', { message }) : rpcInit('tasks/resubscribe', { id: place.id }, resumed);
    await readOld(await reach(`${caller.front()}/a2a`, init), place);
  });
  if (place.text !== chunksText(chunks)) throw new Error(`${name}: the stream had ${place.text}`);
  await record(caller, place.id ?? '', { state: COMPLETED, text: place.text });
}

function taskIn({ task }: { readonly task?: Task }): Task {
  if (task === undefined) throw new Error('an answer without a task');
  return task;
}

async function sendRest(caller: Caller, init: RequestInit): Promise<Task> {
  return taskIn(await persist(caller, async () => jsonOf<{ task?: Task }>(await reach(`${caller.front()}/message:send`, init))));
}

/** A question of the agent, and its answer. */
export async function answerQuestion(caller: Caller): Promise<void> {
  const name = freshName('job-ask');
  const asked = await sendRest(caller, sendInit('ask', { messageId: name, contextId: name }));
  if (asked.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw new Error(`a question is ${asked.status.state}`);
  const told = await sendRest(caller, sendInit(name, { messageId: `${name}-yes`, taskId: asked.id, contextId: name }));
  if (told.status.state !== COMPLETED) throw new Error(`an answered question is ${JSON.stringify(told.status)}`);
  await record(caller, asked.id, { state: COMPLETED, text: `answer: ${name}` });
}

/** A task that never ends by itself, and its cancel. */
export async function cancelRun(caller: Caller): Promise<void> {
  const name = freshName('job-cancel');
  const begun = await sendRest(caller, sendInit('sleep=600000', { messageId: name, contextId: name, returnImmediately: true }));
  await persist(caller, async () => {
    const response = await reach(`${caller.front()}/tasks/${begun.id}:cancel`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    const body = await response.text();
    // A node that died after it had canceled the task could not say so. The get below shows that it is canceled.
    if (!response.ok && !/TASK_NOT_CANCELABLE/.test(body)) throw new Error(`a cancel was answered with ${response.status} ${body}`);
  });
  await record(caller, begun.id, { state: 'TASK_STATE_CANCELED', text: '' });
}

/** A send with a webhook. */
export async function sendHooked(caller: Caller): Promise<void> {
  const [name, chunks] = [freshName('job-hook'), chunksNow()];
  const message = { messageId: name, contextId: name, role: 'ROLE_USER', parts: [{ text: `chunks=${chunks} delay=2` }] };
  const body = JSON.stringify({ message, configuration: { taskPushNotificationConfig: { url: `${(await callersWebhook()).url}/x` } } });
  const task = await sendRest(caller, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  caller.journal.hooked.add(task.id);
  if (!isTerminal(task.status.state)) throw new Error(`a blocking send ended as ${task.status.state}`);
  await record(caller, task.id, { state: COMPLETED, text: chunksText(chunks) });
}

/** The last event of a stream of 1.0, resumed after `after`. Used to see how long a takeover takes. */
export async function* followTask(url: string, id: string, after: number): AsyncGenerator<number, void> {
  const response = await reach(`${url}/tasks/${id}:subscribe`, { headers: { 'Last-Event-ID': String(after) } });
  for await (const frame of framesOf(response)) if (frame.data !== undefined && eventOf(frame).task === undefined) yield Number(frame.id);
}
