import { answerText, questionOf } from '#client';
import type { SendResult } from '#protocol';

/** The members of the result, for the help text. */
export const ANSWER_MEMBERS = 'state, text, taskId, contextId, artifacts, files, question';

/** The result of one message, as JSON for programs. */
export function summary(result: SendResult, files: readonly object[]): object {
  const { task, message } = result;
  const question = task === undefined ? undefined : questionOf(task);
  return {
    state: task?.status.state ?? null,
    text: question === undefined ? answerText(result) : '',
    taskId: task?.id ?? message?.taskId ?? null,
    contextId: task?.contextId ?? message?.contextId ?? null,
    artifacts: task?.artifacts ?? [],
    files,
    question: question === undefined ? null : { kind: question.kind, text: question.text, choices: question.choices },
  };
}
