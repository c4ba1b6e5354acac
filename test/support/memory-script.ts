import type { Message, TaskEvent } from '#protocol';
import { A2AError, artifactId, contextId, createAgentTextMessage, createTaskStatus, getTextFromMessage } from '#protocol';
import type { TaskRecord } from './memory-record.ts';

/** The time of every status, so that tests can compare whole values. */
const AT = new Date('2026-03-12T00:00:00.000Z');

/** The directives in a message's text: those of the `script` agent that the tests of the bindings need. */
export interface Directives {
  readonly chunks: number;
  readonly size: number;
  readonly delayMs: number;
  readonly words: ReadonlySet<string>;
}

export function directivesOf(message: Message): Directives {
  const words = getTextFromMessage(message).split(/\s+/);
  const number = (name: string, otherwise: number): number => {
    const word = words.find((each) => each.startsWith(`${name}=`));
    return word === undefined ? otherwise : Number(word.slice(name.length + 1));
  };
  return { chunks: number('chunks', 1), size: number('size', 0), delayMs: number('delay', 0), words: new Set(words) };
}

/** Answers without a task. */
export function directly(message: Message): Message | undefined {
  const { words } = directivesOf(message);
  if (words.has('crash-now')) throw new Error('secret inside');
  if (words.has('quota')) throw new A2AError('RATE_LIMITED', undefined, { retryAfterMs: 1500 });
  return words.has('message')
    ? createAgentTextMessage('said directly', { contextId: message.contextId ?? contextId('context-0') })
    : undefined;
}

export function statusEvent(record: TaskRecord, state: Parameters<typeof createTaskStatus>[0], text?: string): TaskEvent {
  const { id, contextId } = record;
  const message = text === undefined ? undefined : createAgentTextMessage(text, { taskId: id, contextId });
  return { statusUpdate: { taskId: id, contextId, status: createTaskStatus(state, message, AT) } };
}

/** One turn of the agent. Each step is an event; an abort takes effect between two events. */
export async function* script(record: TaskRecord, message: Message): AsyncGenerator<TaskEvent, void> {
  const { id, contextId } = record;
  const { chunks, size, delayMs, words } = directivesOf(message);
  yield statusEvent(record, 'TASK_STATE_WORKING');
  if (record.asked) return yield* answered(record, message);
  if (words.has('hang')) await record.stopped;
  if (words.has('ask')) return yield statusEvent(record, 'TASK_STATE_INPUT_REQUIRED', 'Which one?');
  if (words.has('auth')) return yield statusEvent(record, 'TASK_STATE_AUTH_REQUIRED', 'Who are you?');
  if (words.has('reject')) return yield statusEvent(record, 'TASK_STATE_REJECTED', 'not my kind of work');
  if (words.has('fail')) return yield statusEvent(record, 'TASK_STATE_FAILED', 'it went wrong');
  for (let at = 1; at <= chunks; at += 1) {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const text = `chunk ${at}`.padEnd(size, '.');
    const artifact = { artifactId: artifactId('artifact-1'), parts: [{ text }] };
    yield { artifactUpdate: { taskId: id, contextId, artifact, append: at > 1, lastChunk: at === chunks } };
  }
  yield statusEvent(record, 'TASK_STATE_COMPLETED');
}

async function* answered(record: TaskRecord, message: Message): AsyncGenerator<TaskEvent, void> {
  const { id, contextId } = record;
  const artifact = { artifactId: artifactId('answer'), parts: [{ text: `answer: ${getTextFromMessage(message)}` }] };
  yield { artifactUpdate: { taskId: id, contextId, artifact, lastChunk: true } };
  yield statusEvent(record, 'TASK_STATE_COMPLETED');
}
