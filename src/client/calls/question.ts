import type { Artifact, Choice, Message, SendResult, Task, TaskId } from '#protocol';
import { getChoicesFromMessage, getTextFromMessage, isInterrupted, isTextPart } from '#protocol';

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

/** The text of a result: of its message, else of its artifacts, else of its last status. */
export function answerText({ task, message }: SendResult): string {
  if (message !== undefined) return getTextFromMessage(message);
  const texts = (task?.artifacts ?? []).map((artifact) => textIn(artifact)).filter((text) => text !== '');
  if (texts.length > 0) return texts.join('\n');
  return task?.status.message === undefined ? '' : getTextFromMessage(task.status.message);
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
