import type { Artifact, ContextId, Message, Part, TaskEvent, TaskId, TaskState, TaskStatus } from '#protocol';
import { A2AError, getTextFromMessage, isInterrupted, isTerminal } from '#protocol';

/** A piece of the answer's text, or a progress note. */
export interface ReplyPiece {
  readonly kind: 'text' | 'note';
  readonly text: string;
}

/** Turns an agent's events into the answer of a chat: one text that only grows. */
export interface ChatReply {
  /** Applies an event and returns the pieces to send. */
  add(event: TaskEvent): readonly ReplyPiece[];
  /** The whole answer so far. */
  readonly text: string;
  readonly taskId: TaskId | undefined;
  readonly contextId: ContextId | undefined;
  readonly state: TaskState | undefined;
  /** Set when the task ended without an answer. */
  readonly failure: A2AError | undefined;
}

/** Starts an empty answer. */
export function startReply(): ChatReply {
  return new GrowingReply();
}

class GrowingReply implements ChatReply {
  text = '';
  taskId: TaskId | undefined;
  contextId: ContextId | undefined;
  state: TaskState | undefined;
  failure: A2AError | undefined;
  /** The text already sent, by artifact. */
  readonly #sent = new Map<string, string>();
  #last: string | undefined;

  add(event: TaskEvent): readonly ReplyPiece[] {
    if (event.message !== undefined) return this.#direct(event.message);
    const from = event.task ?? event.statusUpdate ?? event.artifactUpdate;
    if (from.contextId !== undefined && from.contextId !== '') this.contextId = from.contextId;
    if (event.task !== undefined) {
      this.taskId = event.task.id;
      const made = (event.task.artifacts ?? []).flatMap((artifact) => this.#artifact(artifact, false));
      return [...made, ...this.#status(event.task.status)];
    }
    if (event.artifactUpdate !== undefined) return this.#artifact(event.artifactUpdate.artifact, event.artifactUpdate.append === true);
    this.taskId ??= event.statusUpdate.taskId;
    return this.#status(event.statusUpdate.status);
  }

  #direct(message: Message): readonly ReplyPiece[] {
    this.contextId = message.contextId ?? this.contextId;
    this.state = 'TASK_STATE_COMPLETED';
    return this.#say(shown(message.parts));
  }

  /**
   * Sent text can't be withdrawn. If a replaced artifact starts with the sent text, only the rest is
   * sent; otherwise all of it.
   */
  #artifact({ artifactId, parts }: Artifact, isAppended: boolean): readonly ReplyPiece[] {
    const before = this.#sent.get(artifactId) ?? '';
    const now = isAppended ? before + shown(parts) : shown(parts);
    this.#sent.set(artifactId, now);
    const rest = now.startsWith(before) ? now.slice(before.length) : now;
    if (rest === '') return [];
    const isOther = this.#last !== undefined && (this.#last !== artifactId || rest.length === now.length);
    this.#last = artifactId;
    return this.#say(isOther ? `\n\n${rest}` : rest);
  }

  #status({ state, message }: TaskStatus): readonly ReplyPiece[] {
    this.state = state;
    const words = message === undefined ? '' : shown(message.parts);
    if (isInterrupted(state)) return this.#closing(words);
    if (!isTerminal(state)) return words === '' ? [] : [{ kind: 'note', text: words }];
    if (state === 'TASK_STATE_COMPLETED') return this.#closing(words);
    this.failure = failureOf(state, message);
    return [];
  }

  #closing(words: string): readonly ReplyPiece[] {
    if (words === '' || this.text.trim() === words.trim()) return [];
    return this.#say(this.text === '' ? words : `\n\n${words}`);
  }

  #say(text: string): readonly ReplyPiece[] {
    if (text === '') return [];
    this.text += text;
    return [{ kind: 'text', text }];
  }
}

function failureOf(state: TaskState, message: Message | undefined): A2AError {
  const words =
    (message === undefined ? '' : getTextFromMessage(message)) || `the task was ${state.slice('TASK_STATE_'.length).toLowerCase()}`;
  return new A2AError(state === 'TASK_STATE_REJECTED' ? 'INVALID_PARAMS' : 'INVALID_AGENT_RESPONSE', words, { info: { state } });
}

/**
 * Parts as Markdown, which chat clients display: images inline, files as links, data as a JSON block.
 */
function shown(parts: readonly Part[]): string {
  return parts.map(shownPart).join('');
}

function shownPart({ text, url, raw, data, filename, mediaType = 'application/octet-stream' }: Part): string {
  if (text !== undefined) return text;
  if (data !== undefined) return `\n\`\`\`json\n${JSON.stringify(data, undefined, 2)}\n\`\`\`\n`;
  const name = (filename ?? mediaType).replaceAll(/[[\]()\n]/g, ' ');
  const address = url ?? `data:${mediaType};base64,${raw}`;
  return `\n${mediaType.startsWith('image/') ? '!' : ''}[${name}](${address})\n`;
}
