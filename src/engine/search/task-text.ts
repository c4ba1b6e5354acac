import type { Message, Part, Seq } from '#protocol';
import { NO_EVENT } from '#protocol';
import type { EntryRange, LogEntry, MaybePromise } from '../ports.ts';

/** How much of a task can be found. More would make the index larger than the tasks. */
export const SEARCHED_CHARS_MAX = 32_768;
/** A portion of the log. Large enough for most tasks. */
const PORTION: Pick<EntryRange, 'limit' | 'bytesMax'> = { limit: 1000, bytesMax: 8 * SEARCHED_CHARS_MAX };

/** Collects the text of messages and artifacts, in the order of the log. Files, data and content in the blob store have none. */
class TaskText {
  /** By artifact, or by position for messages. */
  readonly #pieces = new Map<string, string>();
  #chars = 0;

  get isFull(): boolean {
    return this.#chars >= SEARCHED_CHARS_MAX;
  }

  add({ event, input, spilled }: LogEntry): void {
    for (const message of event.task?.history ?? []) this.#say(message);
    this.#say(event.task?.status.message);
    this.#say(input);
    this.#say(event.message);
    this.#say(event.statusUpdate?.status.message);
    for (const artifact of event.task?.artifacts ?? []) this.#put(`a${artifact.artifactId}`, textOf(artifact.parts), false);
    if (event.artifactUpdate === undefined) return;
    const { artifact, append } = event.artifactUpdate;
    const parts = spilled === undefined ? artifact.parts : artifact.parts.filter((_, at) => !spilled.includes(at));
    this.#put(`a${artifact.artifactId}`, textOf(parts), append === true);
  }

  toString(): string {
    return [...this.#pieces.values()].join('\n').slice(0, SEARCHED_CHARS_MAX);
  }

  #say(message: Message | undefined): void {
    if (message !== undefined) this.#put(`m${this.#pieces.size}`, textOf(message.parts), false);
  }

  /** Chunks of an artifact are joined without a space: a chunk may end in the middle of a word. */
  #put(name: string, text: string, isMore: boolean): void {
    if (text === '') return;
    const before = isMore ? (this.#pieces.get(name) ?? '') : '';
    this.#pieces.set(name, before + text.slice(0, SEARCHED_CHARS_MAX - Math.min(before.length, SEARCHED_CHARS_MAX)));
    this.#chars += text.length;
  }
}

function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) if (part.text !== undefined) text += part.text;
  return text;
}

/** Asks for the log portion by portion, until its text is complete or has reached the maximum. */
function* collect(last: Seq): Generator<EntryRange, string, readonly LogEntry[]> {
  const text = new TaskText();
  for (let after = NO_EVENT; after < last && !text.isFull; ) {
    const entries: readonly LogEntry[] = yield { after, ...PORTION };
    for (const entry of entries) text.add(entry);
    after = entries.at(-1)?.seq ?? last;
  }
  return text.toString();
}

/** What can be found of a task whose log ends at `last`. */
export async function textOfTask(last: Seq, read: (range: EntryRange) => MaybePromise<readonly LogEntry[]>): Promise<string> {
  const collecting = collect(last);
  let step = collecting.next();
  while (step.done !== true) step = collecting.next(await read(step.value));
  return step.value;
}

/** The same, for a store that reads at once. */
export function textOfTaskNow(last: Seq, read: (range: EntryRange) => readonly LogEntry[]): string {
  const collecting = collect(last);
  let step = collecting.next();
  while (step.done !== true) step = collecting.next(read(step.value));
  return step.value;
}
