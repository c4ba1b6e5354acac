import type { A2AService, CallContext, Json, JsonObject, Message, Part, Task } from '#protocol';
import {
  A2AError,
  createDataPart,
  createTextPart,
  createUserMessage,
  dialectId,
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

export type Called =
  | { readonly kind: 'output'; readonly output: JsonObject }
  /** The agent said no. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** It could not be asked, or did not answer in time. */
  | { readonly kind: 'error'; readonly reason: string };

export interface Call {
  readonly path: string;
  readonly attempt: number;
  readonly input: JsonObject;
  readonly instruction?: string;
}

/**
 * Asks a node's agent. The message is named after the task, the node and the attempt, so that after a crash the same message is sent
 * again and finds the run that it started the first time: a finished node never runs twice, nor one that was under way.
 */
export async function callAgent(run: Running, node: CallingNode, call: Call): Promise<Called> {
  const service = await run.findAgent(node.agent);
  if (service === undefined) return { kind: 'error', reason: `there is no agent ${node.agent}` };
  const timeoutMs = node.timeoutMs ?? run.workflow.nodeTimeoutMs;
  const patience = linkSignals([run.signal], timeoutMs);
  try {
    return await converse(run, service, { ...call, signal: patience.signal });
  } catch (thrown) {
    if (run.signal.aborted) throw run.signal.reason;
    if (patience.isLate) return { kind: 'error', reason: `${node.agent} did not answer in ${timeoutMs / 1000} s` };
    return { kind: 'error', reason: thrown instanceof A2AError ? thrown.message : `${node.agent} could not be asked` };
  } finally {
    patience.release();
  }
}

interface Conversation extends Call {
  readonly signal: AbortSignal;
}

async function converse(run: Running, service: A2AService, call: Conversation): Promise<Called> {
  const name = await messageName(run.turn.task.id, call);
  const parts: Part[] = [...(call.instruction === undefined ? [] : [createTextPart(call.instruction)]), createDataPart(call.input)];
  let message = createUserMessage(parts, { messageId: messageId(name), metadata: { parentTaskId: run.turn.task.id } });
  for (let round = 1; ; round += 1) {
    const answer = await sent(run, service, { message, call });
    if (answer.task === undefined) return { kind: 'output', output: outputOf(answer.parts) };
    const { task } = answer;
    const words = task.status.message === undefined ? '' : getTextFromMessage(task.status.message);
    if (task.status.state === 'TASK_STATE_COMPLETED') return { kind: 'output', output: outputOf(partsOf(task)) };
    if (!isInterrupted(task.status.state))
      return { kind: 'failed', reason: words || `the agent ended as ${task.status.state.slice(11).toLowerCase()}` };
    const reply = await asked(run, task.status.message ?? createUserMessage('The agent needs an answer.'));
    const id = messageId(`${name}_r${round}`);
    message = {
      ...createUserMessage(reply.parts, { messageId: id, taskId: task.id }),
      ...(task.contextId === undefined ? {} : { contextId: task.contextId }),
    };
  }
}

type Answered = { readonly task: Task; readonly parts?: never } | { readonly parts: readonly Part[]; readonly task?: never };

async function sent(
  run: Running,
  service: A2AService,
  { message, call }: { readonly message: Message; readonly call: Conversation },
): Promise<Answered> {
  call.signal.throwIfAborted();
  const left = new AbortController();
  const ctx: CallContext = {
    principal: run.turn.principal,
    dialect: dialectId('v10'),
    extensions: [],
    idempotencyKey: message.messageId,
    signal: left.signal,
  };
  const fold = startFold();
  let known: Task['id'] | undefined;
  // Whoever stops a node wants its agent to stop too, and only the first event says which task that is.
  const stop = (): void => {
    setTimeout(() => left.abort(), CANCEL_MS).unref();
    if (known !== undefined) service.cancel({ id: known }, { ...ctx, signal: AbortSignal.timeout(CANCEL_MS) }).catch(() => left.abort());
  };
  call.signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const batch of service.stream({ message }, ctx)) {
      for (const { event } of batch) {
        if (event.message !== undefined) return { parts: event.message.parts };
        fold.add(event);
        if (known !== undefined || event.task === undefined) continue;
        known = event.task.id;
        if (call.signal.aborted) stop();
      }
    }
    call.signal.throwIfAborted();
    return { task: fold.task() };
  } finally {
    call.signal.removeEventListener('abort', stop);
    left.abort();
  }
}

const CANCEL_MS = 30_000;

/** One at a time: a caller who is asked two things at once could not say which of them it answers. */
async function asked(run: Running, question: Message): Promise<Message> {
  const mine = run.asking.then(() => run.turn.ask({ ...question, role: 'ROLE_AGENT' }));
  run.asking = mine.catch(() => undefined);
  return await mine;
}

const NAME_CHARS_MAX = 120;

async function messageName(task: string, { path, attempt }: Call): Promise<string> {
  const name = `wf_${task}_${path}_${attempt}`;
  if (name.length <= NAME_CHARS_MAX) return name;
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name));
  return `wf_${[...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function partsOf(task: Task): readonly Part[] {
  const made = (task.artifacts ?? []).flatMap(({ parts }) => parts);
  return made.length > 0 ? made : (task.status.message?.parts ?? []);
}

/** Data as it is; words that are a JSON object as that; other words as `text`. */
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
    // words, then
  }
  return { text };
}
