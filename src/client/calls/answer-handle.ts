import type { Artifact, Message, SendResult, Task, TaskEvent, TaskId } from '#protocol';
import { ClientError } from '../errors/client-error.ts';
import type { SendHandle } from './handle.ts';
import type { Question } from './question.ts';
import type { CallOptions, Input } from './request.ts';

/** The handle of an answer, before the question is known. */
export class AnswerHandle implements SendHandle {
  readonly #next: Promise<SendHandle>;
  #known: SendHandle | undefined;

  constructor(next: Promise<SendHandle>) {
    this.#next = next.then((handle) => {
      this.#known = handle;
      return handle;
    });
    this.#next.catch(() => undefined); // the methods below report it
  }

  get message(): Message {
    if (this.#known === undefined) throw new ClientError('not-supported', 'the message of an answer is known only after the question');
    return this.#known.message;
  }

  get taskId(): TaskId | undefined {
    return this.#known?.taskId;
  }

  result = async (): Promise<SendResult> => (await this.#next).result();
  text = async (): Promise<string> => (await this.#next).text();
  artifacts = async (): Promise<readonly Artifact[]> => (await this.#next).artifacts();
  question = async (): Promise<Question | undefined> => (await this.#next).question();
  cancel = async (): Promise<Task | undefined> => (await this.#next).cancel();
  answer = (input: Input, options: CallOptions = {}): SendHandle =>
    new AnswerHandle(this.#next.then((next) => next.answer(input, options)));

  close = async (): Promise<void> => (await this.#next).close();

  async *[Symbol.asyncIterator](): AsyncGenerator<TaskEvent, void> {
    yield* await this.#next;
  }
}
