import type { Artifact, Message, SendResult, Task, TaskEvent, TaskId } from '#protocol';
import type { Question } from './question.ts';
import type { CallOptions, Input } from './request.ts';

/**
 * A message and its result. Nothing is sent until the handle is used: await `result()` or `text()`, or read its events.
 *
 * ```ts
 * const handle = agent.send('Book a table');
 * const question = await handle.question();
 * if (question !== undefined) console.log(await handle.answer('For two').text());
 * ```
 */
export interface SendHandle extends AsyncIterable<TaskEvent> {
  /** The message that is sent. Its id makes a retry safe. */
  readonly message: Message;
  /** The settled task, or the direct message that the agent answered with. */
  result(): Promise<SendResult>;
  /**
   * The text of the answer: of its message, else of its artifacts, else of its last status. Data is given as JSON if there is no text.
   * Throws a `ClientError` of the kind `task-failed` if the task failed, or was rejected or canceled.
   */
  text(): Promise<string>;
  /** The artifacts of the settled task. */
  artifacts(): Promise<readonly Artifact[]>;
  /** The agent's question, if it asks one. */
  question(): Promise<Question | undefined>;
  /**
   * Answers the agent's question. Waits until the task is settled, then continues it. If the agent kept its stream open at the question, the
   * events after the answer are read from that stream.
   */
  answer(input: Input, options?: CallOptions): SendHandle;
  /** Cancels the task. Undefined: no task id is known yet, and the call was aborted. */
  cancel(): Promise<Task | undefined>;
  /** The task's id, once it is known. */
  readonly taskId: TaskId | undefined;
  /**
   * Stops reading; the task continues. Needed only where a question stays without an answer: an agent may keep its stream open at a
   * question, and the stream then waits for `answer`.
   */
  close(): Promise<void>;
}
