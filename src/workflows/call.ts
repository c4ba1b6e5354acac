import type { A2AService, CallContext, Json, JsonObject, Message, Part, Task } from '#protocol';
import {
  A2AError,
  CURRENT_DIALECT,
  createDataPart,
  createTextPart,
  createUserMessage,
  getTextFromMessage,
  isDataPart,
  isInterrupted,
  isObject,
  isTextPart,
  linkSignals,
  messageId,
  startFold,
} from '#protocol';
import type { CallingNode } from './definition.ts';
import type { Running } from './running.ts';

/** How a call of an agent ended. */
export type CallOutcome =
  | { readonly kind: 'output'; readonly output: JsonObject }
  /** The agent's task failed. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The agent is unreachable, or did not respond in time. */
  | { readonly kind: 'error'; readonly reason: string };

/** One call of a node's agent. */
export interface NodeCall {
  readonly path: string;
  readonly attempt: number;
  readonly input: JsonObject;
  readonly instruction?: string;
}

/**
 * Calls a node's agent. The message id is made from the task, the node and the attempt. After a crash
 * the same message is sent again and joins the run that it started, so that neither a finished node nor
 * a running one runs twice.
 */
export async function callAgent(run: Running, node: CallingNode, call: NodeCall): Promise<CallOutcome> {
  const service = await run.findAgent(node.agent);
  if (service === undefined) return { kind: 'error', reason: `there is no agent ${node.agent}` };
  const timeoutMs = node.timeoutMs ?? run.workflow.nodeTimeoutMs;
  const deadline = linkSignals([run.signal], timeoutMs);
  try {
    return await converse(run, service, { ...call, signal: deadline.signal });
  } catch (thrown) {
    if (run.signal.aborted) throw run.signal.reason;
    if (deadline.isLate) return { kind: 'error', reason: `${node.agent} did not respond within ${timeoutMs / 1000} s` };
    return { kind: 'error', reason: thrown instanceof A2AError ? thrown.message : `${node.agent} could not be called` };
  } finally {
    deadline.release();
  }
}

interface Conversation extends NodeCall {
  readonly signal: AbortSignal;
}

/** Sends the input to an agent. Its questions are passed on to the caller of the workflow. */
async function converse(run: Running, service: A2AService, call: Conversation): Promise<CallOutcome> {
  const name = await messageName(run.turn.task.id, call);
  const parts: Part[] = [...(call.instruction === undefined ? [] : [createTextPart(call.instruction)]), createDataPart(call.input)];
  let message = createUserMessage(parts, { messageId: messageId(name), metadata: { parentTaskId: run.turn.task.id } });
  for (let round = 1; ; round += 1) {
    const answer = await send(run, service, { message, call });
    if (answer.task === undefined) return { kind: 'output', output: outputOf(answer.parts) };
    const { task } = answer;
    const text = task.status.message === undefined ? '' : getTextFromMessage(task.status.message);
    if (task.status.state === 'TASK_STATE_COMPLETED') return { kind: 'output', output: outputOf(partsOf(task)) };
    if (!isInterrupted(task.status.state))
      return { kind: 'failed', reason: text || `the agent ended as ${task.status.state.slice(11).toLowerCase()}` };
    const reply = await askCaller(run, task.status.message ?? createUserMessage('The agent needs an answer.'));
    const id = messageId(`${name}_r${round}`);
    message = {
      ...createUserMessage(reply.parts, { messageId: id, taskId: task.id }),
      ...(task.contextId === undefined ? {} : { contextId: task.contextId }),
    };
  }
}

type Response = { readonly task: Task; readonly parts?: never } | { readonly parts: readonly Part[]; readonly task?: never };

async function send(
  run: Running,
  service: A2AService,
  { message, call }: { readonly message: Message; readonly call: Conversation },
): Promise<Response> {
  call.signal.throwIfAborted();
  const disconnect = new AbortController();
  const ctx: CallContext = {
    principal: run.turn.principal,
    dialect: CURRENT_DIALECT,
    extensions: [],
    idempotencyKey: message.messageId,
    beside: run.turn.task.id,
    signal: disconnect.signal,
  };
  const fold = startFold();
  let known: Task['id'] | undefined;
  // Stopping a node cancels its agent's task, whose id is known with the first event.
  const stop = (): void => {
    setTimeout(() => disconnect.abort(), CANCEL_MS).unref();
    if (known !== undefined)
      service.cancel({ id: known }, { ...ctx, signal: AbortSignal.timeout(CANCEL_MS) }).catch(() => disconnect.abort());
  };
  call.signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const batch of service.stream({ message }, ctx)) {
      for (const { event } of batch) {
        if (event.message !== undefined) return { parts: event.message.parts };
        fold.add(event);
        if (known !== undefined || event.task === undefined) continue;
        known = event.task.id;
        run.tasks.set(call.path, known);
        if (call.signal.aborted) stop();
      }
    }
    call.signal.throwIfAborted();
    return { task: fold.task() };
  } finally {
    call.signal.removeEventListener('abort', stop);
    disconnect.abort();
  }
}

/** Time limit for canceling the agent's task. */
const CANCEL_MS = 30_000;

/** Asks one question at a time: an answer does not say which of two questions it is for. */
async function askCaller(run: Running, question: Message): Promise<Message> {
  const mine = run.asking.then(() => run.turn.ask({ ...question, role: 'ROLE_AGENT' }));
  run.asking = mine.catch(() => undefined);
  return await mine;
}

const NAME_CHARS_MAX = 120;

async function messageName(task: string, { path, attempt }: NodeCall): Promise<string> {
  const name = `wf_${task}_${path}_${attempt}`;
  if (name.length <= NAME_CHARS_MAX) return name;
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name));
  return `wf_${[...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function partsOf(task: Task): readonly Part[] {
  const made = (task.artifacts ?? []).flatMap(({ parts }) => parts);
  return made.length > 0 ? made : (task.status.message?.parts ?? []);
}

/** The data, the text as a JSON object, or the text as `text`. */
function outputOf(parts: readonly Part[]): JsonObject {
  const data = parts.findLast(isDataPart)?.data;
  if (data !== undefined) return isObject(data) ? data : { value: data };
  const text = parts
    .filter(isTextPart)
    .map((part) => part.text)
    .join('');
  try {
    const parsed: Json = JSON.parse(text);
    if (isObject(parsed)) return parsed;
  } catch {
    // not JSON: plain text
  }
  return { text };
}
