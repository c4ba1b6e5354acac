import type { A2AClient, Question, SendHandle } from '#client';
import { answerText, questionOf } from '#client';
import type { Part, SendResult, Task, TaskEvent } from '#protocol';
import { addedParts, appendParts, getTextFromMessage, isInterrupted, isTerminal } from '#protocol';
import { fileText, stateText } from '../output/labels.ts';
import type { Person } from './answers.ts';
import type { Screen } from './terminal.ts';

export interface Turn {
  readonly client: A2AClient;
  readonly screen: Screen;
  readonly person: Person;
  /** What runs now, so that Ctrl-C can stop it. */
  readonly onHandle: (handle: SendHandle | undefined) => void;
  readonly thread: { readonly taskId?: string; readonly contextId?: string };
  readonly signal: AbortSignal;
}

/** One message and all that comes of it: shown as it comes, questions answered in between. */
export async function talk(input: readonly Part[], turn: Turn): Promise<SendResult> {
  const { client, screen, person, onHandle, signal } = turn;
  let handle = client.stream(input, { ...turn.thread, signal });
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
    if (answer === undefined) return result;
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

/** The person has authorized somewhere else; the agent finds that out by itself (A2A 1.0.1 §7.6). */
async function untilAuthorized(client: A2AClient, { taskId }: Question, { screen, signal }: Turn): Promise<Task> {
  screen.status('waiting for the agent to go on');
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

/** Remembers what has been shown, so that nothing is shown twice and nothing is left out. */
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
      // As long as it works, an agent that is asked again and again may still write over what it shows.
      if (isTerminal(state) || isInterrupted(state)) this.#artifacts(event.task);
      this.#status(event.task.status);
    }
  }

  /** What came with the answer and not with an event. */
  rest(result: SendResult, question: Question | undefined): void {
    if (result.task !== undefined) this.#artifacts(result.task);
    this.#screen.endLine();
    if (question !== undefined) this.#screen.say(question.text === '' ? 'The agent is waiting for you.' : question.text);
    else if (!this.#hasText) this.#parts('answer', result.message?.parts ?? [{ text: answerText(result) }]);
    else this.#lastWord(result.task);
    this.#screen.endLine();
  }

  /** What the agent says of its work when it is done, unless that was the work. */
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

  /** The closing record of a run (docs/coding-agents.md) is for programs: people have read its summary as the answer. */
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
