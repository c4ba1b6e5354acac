import type { Artifact, Choice, Message, Part, SendResult, Task, TaskId } from '#protocol';
import { getChoicesFromMessage, getTextFromMessage, isDataPart, isInterrupted, isTextPart } from '#protocol';
import { ClientError } from '../errors/client-error.ts';

/** What an agent asks before it continues. */
export interface Question {
  /** The task that waits. */
  readonly taskId: TaskId;
  /** `auth`: the agent needs a credential, which is usually given outside of A2A. */
  readonly kind: 'input' | 'auth';
  /** The text of the question. */
  readonly text: string;
  /** The agent's whole message, if it sent one. */
  readonly message: Message | undefined;
  /** The options that it offers. Empty for a free answer. */
  readonly choices: readonly Choice[];
}

/**
 * The text of a result: of its message, else of its artifacts, else of its last status, else of the status messages before it. Data is given
 * as JSON if there is no text.
 */
export function answerText({ task, message }: SendResult): string {
  if (message !== undefined) return getTextFromMessage(message) || dataIn(message.parts);
  const artifacts = task?.artifacts ?? [];
  const texts = artifacts.map((artifact) => textIn(artifact)).filter((text) => text !== '');
  if (texts.length > 0) return texts.join('\n');
  const said = task?.status.message;
  const last = said === undefined ? '' : getTextFromMessage(said);
  const data = dataIn([...artifacts.flatMap(({ parts }) => parts), ...(said?.parts ?? [])]);
  return last || data || (task === undefined ? '' : saidMeanwhile(task));
}

/** Some agents (Microsoft Agent Framework) answer only in status messages while they work: all that they said since the last message. */
function saidMeanwhile({ history = [] }: Task): string {
  const asked = history.findLastIndex(({ role }) => role === 'ROLE_USER');
  return history
    .slice(asked + 1)
    .map(getTextFromMessage)
    .join('\n');
}

/** Data as text: a string as it is, anything else as JSON, one value in a line. */
function dataIn(parts: readonly Part[]): string {
  return parts
    .filter(isDataPart)
    .map(({ data }) => (typeof data === 'string' ? data : JSON.stringify(data)))
    .join('\n');
}

/** The error for a task that ended without a result, with the agent's last message as the reason. Undefined: it has not failed. */
export function failureOf({ task }: SendResult, what = 'the task'): ClientError | undefined {
  const state = task?.status.state;
  if (task === undefined || (state !== 'TASK_STATE_FAILED' && state !== 'TASK_STATE_REJECTED' && state !== 'TASK_STATE_CANCELED'))
    return undefined;
  const said = task.status.message === undefined ? '' : getTextFromMessage(task.status.message);
  const word = state.slice('TASK_STATE_'.length).toLowerCase();
  return new ClientError('task-failed', `${what} ${word === 'failed' ? 'failed' : `was ${word}`}`, {
    ...(said === '' ? {} : { why: said }),
    hint: `task ${task.id}; result() gives it without an error`,
  });
}

/** The chunks of an artifact form one text. */
function textIn({ parts }: Artifact): string {
  return parts
    .filter(isTextPart)
    .map(({ text }) => text)
    .join('');
}

/**
 * The question of a task that waits for input or authorization.
 *
 * ```ts
 * const question = questionOf(task);
 * if (question?.kind === 'input') console.log(question.text, question.choices);
 * ```
 */
export function questionOf({ id, status }: Task): Question | undefined {
  if (!isInterrupted(status.state)) return undefined;
  return {
    taskId: id,
    kind: status.state === 'TASK_STATE_AUTH_REQUIRED' ? 'auth' : 'input',
    text: status.message === undefined ? '' : getTextFromMessage(status.message),
    message: status.message,
    choices: status.message === undefined ? [] : getChoicesFromMessage(status.message),
  };
}
