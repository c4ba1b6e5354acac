import type { ConversationSummary, Message, Metadata, Part, TaskArtifactUpdate, TaskStatus } from '#protocol';
import { appendParts, isInterrupted, isObject, isTerminal, messageId, SUMMARY_NOTE } from '#protocol';
import type { LogEntry, TaskRow } from '../ports.ts';
import { contentLength } from '../tasks/events.ts';

/**
 * Turns the log of a task into what a person would call its conversation: the caller's messages, the
 * agent's questions, and one message for each answer, with the content of its artifacts. Progress notes
 * and the messages of failed and canceled tasks are left out.
 */
export class SaidInTask {
  readonly #row: Pick<TaskRow, 'id' | 'contextId'>;
  readonly bytesMax: number;
  readonly #messages: Message[] = [];
  /** The answer so far, by artifact id. */
  #answer = new Map<string, Part[]>();
  #bytes = 0;
  #isCut = false;
  #summary: ConversationSummary | undefined;

  constructor(row: Pick<TaskRow, 'id' | 'contextId'>, bytesMax: number) {
    this.#row = row;
    this.bytesMax = bytesMax;
  }

  /** The answer has reached its maximum size: reading further artifact updates has no effect. */
  get isFull(): boolean {
    return this.#isCut;
  }

  /** The agent's newest summary in this task. */
  get summary(): ConversationSummary | undefined {
    return this.#summary;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  add({ seq, event, input, spilled }: LogEntry): void {
    if (event.task !== undefined) this.#messages.push(...(event.task.history ?? []));
    if (event.artifactUpdate !== undefined) this.#addChunk(event.artifactUpdate, spilled);
    const status = event.statusUpdate?.status;
    this.#summary = summaryIn(event.statusUpdate?.metadata) ?? this.#summary;
    if (input !== undefined) {
      this.#endAnswer(seq, undefined);
      this.#messages.push(input);
    } else if (status !== undefined && (isInterrupted(status.state) || isTerminal(status.state))) {
      this.#endAnswer(seq, isAnswer(status) ? status.message : undefined);
    }
  }

  #addChunk({ artifact, append }: TaskArtifactUpdate, spilled: readonly number[] | undefined): void {
    const parts = artifact.parts.map((part, at) => (spilled?.includes(at) === true ? leftOut(part, 'large') : part));
    for (const part of parts) this.#bytes += contentLength(part);
    const known = this.#answer.get(artifact.artifactId);
    if (known === undefined || append !== true) this.#answer.set(artifact.artifactId, [...parts]);
    else appendParts(known, parts);
    this.#isCut ||= this.#bytes > this.bytesMax;
  }

  /** An agent may send its answer as an artifact and repeat it in the final status. */
  #endAnswer(seq: number, closing: Message | undefined): void {
    const made = [...this.#answer.values()].flat();
    const isRepeated = closing !== undefined && textOf(closing.parts) !== '' && textOf(closing.parts) === textOf(made);
    const last = closing === undefined || isRepeated ? [] : closing.parts;
    this.#answer = new Map();
    this.#bytes = 0;
    this.#isCut = false;
    if (made.length + last.length === 0) return;
    const { id: taskId, contextId } = this.#row;
    const own = { role: 'ROLE_AGENT', parts: [...made, ...last], taskId, contextId } as const;
    this.#messages.push(closing === undefined ? { messageId: messageId(`${taskId}-${seq}`), ...own } : { ...closing, ...own });
  }
}

/** Only agents can write this note, but an older version of one may have written it differently. */
function summaryIn(metadata: Metadata | undefined): ConversationSummary | undefined {
  const note = metadata?.[SUMMARY_NOTE];
  if (!isObject(note) || !isObject(note['covers'])) return undefined;
  const { text } = note;
  const { taskId, messageId } = note['covers'];
  return typeof text === 'string' && typeof taskId === 'string' && typeof messageId === 'string'
    ? { text, covers: { taskId, messageId } }
    : undefined;
}

/** The message of a failed or canceled task is no answer. */
function isAnswer({ state }: TaskStatus): boolean {
  return state !== 'TASK_STATE_FAILED' && state !== 'TASK_STATE_CANCELED';
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text }) => text ?? '').join('');
}

/** Content of a message, in characters. */
export function sizeOfMessage({ parts }: Message): number {
  return parts.reduce((sum, part) => sum + contentLength(part), 0);
}

interface Shortening {
  readonly bytesMax: number;
  /** The texts may be cut too. */
  readonly mayCut: boolean;
}

/** The message in at most `bytesMax` characters: first without the bytes of its files. Undefined: that is not enough. */
export function shortened(message: Message, { bytesMax, mayCut }: Shortening): Message | undefined {
  if (sizeOfMessage(message) <= bytesMax) return message;
  const named = { ...message, parts: message.parts.map((part) => (part.raw === undefined ? part : leftOut(part, `${part.raw.length}`))) };
  if (sizeOfMessage(named) <= bytesMax) return named;
  if (!mayCut) return undefined;
  let left = bytesMax;
  const parts = named.parts.flatMap((part): readonly Part[] => {
    const text = part.text ?? (part.data === undefined ? (part.url ?? '') : JSON.stringify(part.data));
    const kept = text.slice(0, Math.max(0, left));
    left -= text.length;
    return kept === '' ? [] : [{ text: kept }];
  });
  return { ...named, parts: [...parts, { text: '[the rest of this message is left out]' }] };
}

/** Stands for content that is too large to be repeated. */
function leftOut({ filename, mediaType }: Part, size: string): Part {
  const what = [filename ?? 'a file', mediaType].filter((each) => each !== undefined).join(', ');
  return { text: `[${what}: ${size === 'large' ? 'too large to repeat' : `${size} characters, left out`}]` };
}
