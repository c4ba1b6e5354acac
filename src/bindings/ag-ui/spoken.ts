import type { JsonObject, WorkReport } from '#protocol';
import type { AgUiEvent } from './event.ts';
import { agUiEvent } from './event.ts';

interface SpokenText {
  /** The first part of the ids of its messages. */
  readonly base: string;
  /** The message that the next piece goes to. */
  messageId: string;
  text: string;
  isOpen: boolean;
  /** The next piece starts another message. */
  isReplaced: boolean;
  /** How many messages this text has become. */
  count: number;
}

type ToolUse = Extract<WorkReport, { readonly kind: 'tool_use' }>;
type ToolResult = Extract<WorkReport, { readonly kind: 'tool_result' }>;
type Delegated = Extract<WorkReport, { readonly kind: 'delegated' }>;

/**
 * The texts, tool calls and sub-agents of one run. Knows what is open: a client rejects a run that ends
 * with an open message or sub-agent, and an event for a message that was never started.
 */
export class Spoken {
  readonly #texts = new Map<string, SpokenText>();
  readonly #calls = new Set<string>();
  readonly #agents = new Set<string>();
  #thoughts = 0;
  #last: SpokenText | undefined;

  /**
   * Takes a text that the client has already. Only what is added to it will be sent: to the same message,
   * or to another one that comes after the answer to the question `asked`.
   */
  know(id: string, text: string, asked?: string): void {
    const base = asked === undefined ? id : `${id}:${asked}`;
    this.#texts.set(id, { base, messageId: base, text, isOpen: false, isReplaced: false, count: 1 });
  }

  /**
   * Says a whole text under an id. If it starts with the text sent before, the rest is appended.
   * Otherwise it is another text and becomes another message, because sent text can't be withdrawn.
   */
  say(id: string, text: string, isLast: boolean): readonly AgUiEvent[] {
    const known = this.#textOf(id);
    if (text.startsWith(known.text)) return this.append(id, text.slice(known.text.length), isLast);
    const ended = this.#end(known);
    known.text = '';
    known.isReplaced = true;
    return [...ended, ...this.append(id, text, isLast)];
  }

  /** Says more of a text. */
  append(id: string, delta: string, isLast: boolean): readonly AgUiEvent[] {
    const known = this.#textOf(id);
    known.text += delta;
    this.#last = known;
    const out: AgUiEvent[] = [];
    if (delta !== '') {
      if (!known.isOpen) out.push(this.#start(known));
      out.push(agUiEvent('TEXT_MESSAGE_CONTENT', { messageId: known.messageId, delta }));
    }
    if (isLast) out.push(...this.#end(known));
    return out;
  }

  /** The last text that was sent, to recognise a closing message that repeats it. */
  get last(): string {
    return this.#last?.text ?? '';
  }

  #textOf(id: string): SpokenText {
    const known = this.#texts.get(id) ?? { base: id, messageId: id, text: '', isOpen: false, isReplaced: false, count: 0 };
    this.#texts.set(id, known);
    return known;
  }

  #start(known: SpokenText): AgUiEvent {
    if (known.count > 0 && known.isReplaced) known.messageId = `${known.base}:${known.count + 1}`;
    known.isReplaced = false;
    known.count += 1;
    known.isOpen = true;
    return agUiEvent('TEXT_MESSAGE_START', { messageId: known.messageId, role: 'assistant' });
  }

  #end(known: SpokenText): readonly AgUiEvent[] {
    if (!known.isOpen) return [];
    known.isOpen = false;
    return [agUiEvent('TEXT_MESSAGE_END', { messageId: known.messageId })];
  }

  /** Reasoning that is shown apart from the answer. */
  think(id: string, delta: string): readonly AgUiEvent[] {
    this.#thoughts += 1;
    const messageId = `${id}:thought-${this.#thoughts}`;
    return [
      agUiEvent('REASONING_START', { messageId }),
      agUiEvent('REASONING_MESSAGE_START', { messageId, role: 'reasoning' }),
      agUiEvent('REASONING_MESSAGE_CONTENT', { messageId, delta }),
      agUiEvent('REASONING_MESSAGE_END', { messageId }),
      agUiEvent('REASONING_END', { messageId }),
    ];
  }

  /** A tool call of the agent. Its arguments are complete from the start. */
  call(toolCallId: string, { tool, input }: Pick<ToolUse, 'tool' | 'input'>): readonly AgUiEvent[] {
    if (this.#calls.has(toolCallId)) return [];
    const ended = this.#interrupt();
    this.#calls.add(toolCallId);
    return [
      ...ended,
      agUiEvent('TOOL_CALL_START', { toolCallId, toolCallName: tool }),
      agUiEvent('TOOL_CALL_ARGS', { toolCallId, delta: JSON.stringify(input ?? {}) }),
      agUiEvent('TOOL_CALL_END', { toolCallId }),
    ];
  }

  /** The result of a call. A result without a call brings its call with it. */
  returned(toolCallId: string, { tool = 'tool', output }: Pick<ToolResult, 'tool' | 'output'>): readonly AgUiEvent[] {
    const called = this.call(toolCallId, { tool });
    this.#calls.delete(toolCallId);
    return [...called, agUiEvent('TOOL_CALL_RESULT', { messageId: `${toolCallId}:result`, toolCallId, content: output, role: 'tool' })];
  }

  delegated(subagentRunId: string, { agent, description }: Delegated): readonly AgUiEvent[] {
    if (this.#agents.has(subagentRunId)) return [];
    this.#agents.add(subagentRunId);
    return [agUiEvent('SUBAGENT_STARTED', { subagentRunId, name: agent, description })];
  }

  delegationEnded(subagentRunId: string, error?: string): readonly AgUiEvent[] {
    if (!this.#agents.delete(subagentRunId)) return [];
    if (error !== undefined) return [agUiEvent('SUBAGENT_ERROR', { subagentRunId, message: error })];
    return [agUiEvent('SUBAGENT_FINISHED', { subagentRunId })];
  }

  closeTexts(): readonly AgUiEvent[] {
    return [...this.#texts.values()].flatMap((known) => this.#end(known));
  }

  /** Text that continues after a tool call becomes a new message, so that the order stays visible. */
  #interrupt(): readonly AgUiEvent[] {
    const open = [...this.#texts.values()].filter(({ isOpen }) => isOpen);
    for (const known of open) known.isReplaced = true;
    return this.closeTexts();
  }

  /**
   * Closes everything before the run ends. `isOver`: the task has ended, so that a call without a result
   * gets an empty one; a front end would take it for a call that it has to run.
   */
  close(isOver: boolean): readonly AgUiEvent[] {
    const outcome: JsonObject = isOver ? { type: 'success' } : { type: 'suspended' };
    const agents = [...this.#agents].map((subagentRunId) => agUiEvent('SUBAGENT_FINISHED', { subagentRunId, outcome }));
    const calls = isOver ? [...this.#calls].flatMap((id) => this.returned(id, { output: '' })) : [];
    this.#agents.clear();
    return [...this.closeTexts(), ...calls, ...agents];
  }
}
