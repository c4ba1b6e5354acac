import type { AgentContext, ClientCapabilities, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { methods, RequestError } from '@agentclientprotocol/sdk';
import { callingContext, DEFAULT_PROXY_TIMEOUTS, linger, talk } from '#agents';
import type { Message, Metadata, Part, Task } from '#protocol';
import { contextId, createUserMessage, getChoicesFromMessage, getTextFromMessage, isInterrupted, messageId } from '#protocol';
import type { Reachable } from '../../agent-tools.ts';
import { askUser } from './questions.ts';
import { chunkOf, SessionUpdates } from './updates.ts';

/** One session of an editor: a context of the agent. */
export interface EditorSession {
  readonly id: string;
  /** The agent's own id of the context, if it does not use ours. */
  context: string;
  mode: string;
  /** The task that waits for the next prompt. */
  waiting: Task | undefined;
  /** Ends the prompt that is running. */
  running: AbortController | undefined;
}

/** What one prompt needs. */
export interface PromptParts {
  readonly agent: Reachable;
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly session: EditorSession;
  /** Metadata of the message for the current mode. */
  readonly metadata: Metadata;
  /** Gets errors that the editor does not see. */
  readonly onError?: (thrown: unknown) => void;
}

const CANCEL_MS_MAX = 10_000;

/** Sends a prompt, shows what the agent does, and asks the user what the agent asks, until the task settles. */
export async function runPrompt(parts: PromptParts, prompt: readonly Part[]): Promise<PromptResponse> {
  const { session } = parts;
  const stop = new AbortController();
  session.running = stop;
  const updates = new SessionUpdates();
  const before = session.waiting;
  if (before !== undefined) updates.know(before);
  session.waiting = undefined;
  try {
    let said: readonly Part[] | undefined = prompt;
    while (said !== undefined) {
      await sendOnce(parts, { said, updates, signal: stop.signal, isAnswer: updates.question !== undefined || before !== undefined });
      if (stop.signal.aborted) return await stopped(parts, updates);
      said = await answered(parts, updates, stop.signal);
      if (stop.signal.aborted) return await stopped(parts, updates);
    }
    return ended(updates);
  } catch (thrown) {
    if (stop.signal.aborted) return await stopped(parts, updates);
    throw thrown instanceof RequestError
      ? thrown
      : RequestError.internalError(undefined, thrown instanceof Error ? thrown.message : String(thrown));
  } finally {
    session.running = undefined;
    session.context = updates.contextId ?? session.context;
  }
}

interface Saying {
  readonly said: readonly Part[];
  readonly updates: SessionUpdates;
  readonly signal: AbortSignal;
  readonly isAnswer: boolean;
}

async function sendOnce({ agent, client, session, metadata }: PromptParts, { said, updates, signal, isAnswer }: Saying): Promise<void> {
  const { service, card } = agent;
  const lingering = linger(signal, CANCEL_MS_MAX);
  const message: Message = {
    ...createUserMessage(said, { messageId: messageId(crypto.randomUUID()), contextId: contextId(updates.contextId ?? session.context) }),
    ...(isAnswer && updates.taskId !== undefined ? { taskId: updates.taskId } : {}),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
  const ctx = callingContext({ signal: lingering.signal, extensions: [], idempotencyKey: message.messageId });
  const streams = card.capabilities.streaming !== false;
  for await (const event of talk({ service, request: { message }, ctx, patience: DEFAULT_PROXY_TIMEOUTS, streams })) {
    const shown = updates.add(event);
    if (updates.taskId !== undefined) lingering.end();
    for (const update of shown) await notify(client, session, update);
  }
}

async function notify(client: AgentContext, { id }: EditorSession, update: SessionUpdate): Promise<void> {
  await client.notify(methods.client.session.update, { sessionId: id, update });
}

/** The answer to the question that the task waits for. Undefined: the prompt is over. */
async function answered(parts: PromptParts, updates: SessionUpdates, signal: AbortSignal): Promise<readonly Part[] | undefined> {
  const { client, capabilities, session, agent } = parts;
  const { status, taskId, question } = updates;
  if (status === undefined || taskId === undefined || !isInterrupted(status.state)) return undefined;
  const answer = await askUser({ client, capabilities, sessionId: session.id, taskId, signal }, status);
  if (answer.kind === 'answer') return answer.parts;
  if (answer.kind === 'declined') {
    await cancelTask(parts, updates);
    updates.status = { state: 'TASK_STATE_CANCELED' };
    return undefined;
  }
  // The task waits. The next prompt answers it.
  const ctx = callingContext({ signal, extensions: [] });
  session.waiting = await agent.service.get({ id: taskId }, ctx);
  if (answer.kind === 'later' && question !== undefined) await notify(client, session, chunkOf({ text: wordsOf(question) }));
  if (answer.kind === 'canceled') updates.status = { state: 'TASK_STATE_CANCELED' };
  return undefined;
}

function wordsOf(question: Message): string {
  const options = getChoicesFromMessage(question).map(({ name }) => name);
  const text = getTextFromMessage(question);
  const isListed = options.every((name) => text.includes(name));
  return `\n\n${text}${isListed ? '' : `\n${options.map((name) => `- ${name}`).join('\n')}`}`;
}

async function stopped(parts: PromptParts, updates: SessionUpdates): Promise<PromptResponse> {
  await cancelTask(parts, updates);
  parts.session.waiting = undefined;
  return { stopReason: 'cancelled' };
}

async function cancelTask({ agent, onError }: PromptParts, { taskId, status }: SessionUpdates): Promise<void> {
  if (taskId === undefined || status?.state === 'TASK_STATE_COMPLETED') return;
  try {
    await agent.service.cancel({ id: taskId }, callingContext({ signal: AbortSignal.timeout(CANCEL_MS_MAX), extensions: [] }));
  } catch (thrown) {
    onError?.(thrown); // the task has ended, or the agent can't be reached
  }
}

function ended({ status }: SessionUpdates): PromptResponse {
  const words = status?.message === undefined ? '' : getTextFromMessage(status.message);
  switch (status?.state) {
    case 'TASK_STATE_FAILED':
      throw RequestError.internalError(undefined, words || 'the task failed');
    case 'TASK_STATE_REJECTED':
      return { stopReason: 'refusal' };
    case 'TASK_STATE_CANCELED':
      return { stopReason: 'cancelled' };
    default:
      return { stopReason: 'end_turn' };
  }
}
