import type { A2AClient, Question, SendHandle } from '#client';
import { answerText, questionOf } from '#client';
import type { Part, SendResult, Task, TaskEvent } from '#protocol';
import { addedParts, appendParts, getTextFromMessage, isInterrupted, isTerminal } from '#protocol';
import { fileText, stateText } from '../output/labels.ts';
import type { Person } from './answers.ts';
import type { Screen } from './terminal.ts';

/** What a turn needs besides the message. */
export interface ConversationOptions {
  readonly client: A2AClient;
  readonly screen: Screen;
  readonly person: Person;
  /** Called with the running call, so that Ctrl-C can cancel it. */
  readonly onHandle: (handle: SendHandle | undefined) => void;
  readonly thread: { readonly taskId?: string; readonly contextId?: string; readonly skill?: string };
  /** The call whose question the message answers. */
  readonly asked?: SendHandle | undefined;
  /** Gets the call of a question that stays without an answer, to be answered later. Absent: its stream is closed. */
  readonly onAsked?: (handle: SendHandle) => void;
  readonly signal: AbortSignal;
}

/** Sends one message, shows the answer as it arrives, and answers questions. */
export async function talk(input: readonly Part[], turn: ConversationOptions): Promise<SendResult> {
  const { client, screen, person, onHandle, signal } = turn;
  let handle = turn.asked === undefined ? client.stream(input, { ...turn.thread, signal }) : turn.asked.answer(input, { signal });
  const shown = new Shown(screen);
  for (;;) {
    onHandle(handle);
    screen.status('sending');
    for await (const event of handle) shown.event(event);
    const result = await handle.result();
    onHandle(undefined);
    screen.clear();
    const question = result.task === undefined ? undefined : questionOf(result.task);
    shown.rest(result, question);
    if (question === undefined) return result;
    const answer = await person.answer(question);
    if (answer === undefined) {
      if (turn.onAsked === undefined) await handle.close();
      else turn.onAsked(handle);
      return result;
    }
    if (question.kind === 'auth' && isEmpty(answer)) {
      const task = await untilAuthorized(client, question, turn);
      shown.rest({ task }, undefined);
      if (questionOf(task) === undefined) return { task };
      continue;
    }
    handle = handle.answer(answer, { signal });
  }
}

function isEmpty([part, ...more]: readonly Part[]): boolean {
  return more.length === 0 && part?.text === '';
}

const AUTH_POLL_MS = 1000;

/** The person authorizes elsewhere. The agent finds out by itself (A2A 1.0.1 §7.6). */
async function untilAuthorized(client: A2AClient, { taskId }: Question, { screen, signal }: ConversationOptions): Promise<Task> {
  screen.status('waiting for the agent to continue');
  for (;;) {
    const task = await client.get(taskId, { signal });
    if (!/WORKING|SUBMITTED|AUTH_REQUIRED/.test(task.status.state)) {
      screen.clear();
      return task;
    }
    await new Promise((resolve) => setTimeout(resolve, AUTH_POLL_MS));
    signal.throwIfAborted();
  }
}

/** Remembers what was shown, so that nothing is shown twice or left out. */
class Shown {
  readonly #screen: Screen;
  #artifact: string | undefined;
  readonly #seen = new Map<string, Part[]>();
  #hasText = false;
  #text = '';

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  event(event: TaskEvent): void {
    if (event.statusUpdate !== undefined) this.#status(event.statusUpdate.status);
    else if (event.artifactUpdate !== undefined) {
      const { artifact, append } = event.artifactUpdate;
      const before = append === true ? (this.#seen.get(artifact.artifactId) ?? []) : [];
      this.#parts(artifact.artifactId, artifact.parts);
      this.#seen.set(artifact.artifactId, appendParts(before, artifact.parts));
    } else if (event.task !== undefined) {
      const { state } = event.task.status;
      // While the task runs, a polled agent may still replace its artifacts.
      if (isTerminal(state) || isInterrupted(state)) this.#artifacts(event.task);
      this.#status(event.task.status);
    }
  }

  /** Shows what came with the result but in no event. */
  rest(result: SendResult, question: Question | undefined): void {
    if (result.task !== undefined) this.#artifacts(result.task);
    this.#screen.endLine();
    if (question !== undefined) this.#screen.say(question.text === '' ? 'The agent is waiting for you.' : question.text);
    else if (!this.#hasText) this.#parts('answer', result.message?.parts ?? [{ text: answerText(result) }]);
    else this.#lastWord(result.task);
    this.#screen.endLine();
  }

  /** Shows the message of the last status, unless its text was the answer. */
  #lastWord(task: Task | undefined): void {
    const said = task?.status.message === undefined ? '' : getTextFromMessage(task.status.message);
    if (said !== '' && !this.#text.includes(said)) this.#parts('last word', [{ text: said }]);
  }

  #artifacts(task: Task): void {
    for (const { artifactId, parts } of task.artifacts ?? []) {
      this.#parts(artifactId, addedParts(this.#seen.get(artifactId) ?? [], parts) ?? parts);
      this.#seen.set(artifactId, [...parts]);
    }
  }

  #parts(artifact: string, parts: readonly Part[]): void {
    if (parts.length > 0 && this.#artifact !== undefined && this.#artifact !== artifact) this.#screen.endLine();
    if (parts.length > 0) this.#artifact = artifact;
    for (const part of parts) {
      this.#hasText = true;
      if (part.text !== undefined) {
        this.#screen.say(part.text);
        this.#text += part.text;
        continue;
      }
      if (this.#isRecordOf(part)) continue;
      this.#screen.endLine();
      this.#screen.say(part.data === undefined ? `[file ${fileText(part)}]\n` : `${JSON.stringify(part.data, null, 2)}\n`);
    }
  }

  /** The record at the end of a run (docs/coding-agents.md) is for programs. People have read its summary in the answer. */
  #isRecordOf({ data }: Part): boolean {
    if (typeof data !== 'object' || data === null || !('adapter' in data) || !('summary' in data)) return false;
    const { adapter, summary } = data;
    return typeof adapter === 'string' && typeof summary === 'string' && summary !== '' && this.#text.includes(summary.trim());
  }

  #status({ state, message }: Task['status']): void {
    const said = message === undefined ? '' : getTextFromMessage(message);
    this.#screen.status(said === '' ? stateText(state).toLowerCase().replaceAll('_', ' ') : said);
  }
}
