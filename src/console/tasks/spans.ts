import type { AdminAttempt, AdminEvent, JsonObject, Message, Metadata, TaskEvent, TaskState } from '#protocol';
import {
  getChoicesFromMessage,
  getTextFromMessage,
  isDataPart,
  isInterrupted,
  isObject,
  isTerminal,
  LLM_NOTE,
  ORIGIN_NOTE,
} from '#protocol';
import { voiceIn } from '../delegated.ts';
import { withoutCode } from '../ui/plain.ts';

/** What a bar of the waterfall is about. */
export type SpanKind = 'turn' | 'question' | 'tool' | 'delegation' | 'output' | 'note' | 'webhook';

/** A bar of the waterfall: something that took time. */
export interface Span {
  readonly kind: SpanKind;
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** The number of events after which it began: where the replay stands when it is chosen. */
  readonly at: number;
  /** It happened somewhere between the two times: chunks have no time in the log. */
  readonly isRough: boolean;
  readonly isOpen: boolean;
  readonly isBad: boolean;
  /** The task that did the work, for a delegation. */
  readonly taskId?: string;
  /** Of a delegation: the name under which its parts are folded. */
  readonly owns?: string;
  /** It is a part of the delegation with this name. */
  readonly inside?: string;
}

type Draft = { -readonly [K in keyof Span]: Span[K] } & { count: number };

/** When an event happened, if it says so. */
export function timeOf(event: TaskEvent): string | undefined {
  return event.statusUpdate?.status.timestamp ?? event.task?.status.timestamp;
}

const LABEL_CHARS = 140;

function oneLine(text: string): string {
  const line = withoutCode(text.slice(0, 4 * LABEL_CHARS))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > LABEL_CHARS ? `${line.slice(0, LABEL_CHARS - 1)}…` : line;
}

function wordsIn(message: Message | undefined): string {
  if (message === undefined) return '';
  const text = oneLine(getTextFromMessage(message));
  if (text !== '') return text;
  const data = message.parts.find(isDataPart)?.data;
  const option = isObject(data) ? data['optionId'] : undefined;
  if (typeof option === 'string') return option;
  return data === undefined ? '' : oneLine(JSON.stringify(data));
}

/** The name of the option that an answer chose, or its words. */
function answerIn(answer: Message, question: Message | undefined): string {
  const words = wordsIn(answer);
  const choices = question === undefined ? [] : getChoicesFromMessage(question);
  return choices.find(({ optionId }) => optionId === words)?.name ?? words;
}

/** Collects the bars of one task, event by event. */
class SpanBuilder {
  readonly spans: Draft[] = [];
  #clock: number;
  #at = 0;
  #turn: Draft | undefined;
  #question: Draft | undefined;
  #asked: Message | undefined;
  #note: Draft | undefined;
  /** Outputs since the last status, by the id of the artifact. */
  readonly #outputs = new Map<string, Draft>();
  #delegation: Draft | undefined;
  readonly #tools = new Map<string, Draft>();
  /** Agents that work for this one, by the id of the delegation. */
  readonly #peers = new Map<string, Draft & { readonly agent: string }>();

  constructor(startMs: number) {
    this.#clock = startMs;
  }

  add({ event, input }: AdminEvent): void {
    this.#at += 1;
    const time = timeOf(event);
    if (time !== undefined) this.#tick(Date.parse(time));
    if (event.task !== undefined) {
      const { history = [], status, metadata } = event.task;
      this.#begin(wordsIn(history.find(({ role }) => role === 'ROLE_USER')), false);
      this.#noteIn(metadata);
      this.#state(status.state, status.message);
    }
    if (input !== undefined) this.#begin(answerIn(input, this.#question === undefined ? undefined : this.#asked), true);
    if (event.statusUpdate !== undefined) {
      const { status, metadata } = event.statusUpdate;
      if (!this.#noteIn(metadata)) this.#progress(status.state, status.message, metadata);
      this.#state(status.state, status.message);
    }
    if (event.artifactUpdate !== undefined) this.#chunk(event.artifactUpdate.artifact.artifactId, event.artifactUpdate.artifact.name);
  }

  /** Ends what is still open. A task at work is drawn up to this moment. */
  end(endMs: number): readonly Span[] {
    this.#clock = Math.max(this.#clock, endMs);
    for (const span of this.spans) {
      if (span.isOpen) span.to = this.#clock;
      if (span.kind === 'output' && span.count > 1) span.label = `${span.label} · ${span.count.toLocaleString('en')} chunks`;
    }
    return this.spans;
  }

  #open(kind: SpanKind, label: string, more: Partial<Draft> = {}): Draft {
    const draft: Draft = {
      ...{ kind, label, from: this.#clock, to: this.#clock, at: this.#at },
      ...{ isRough: false, isOpen: true, isBad: false, count: 1 },
      ...more,
    };
    this.spans.push(draft);
    return draft;
  }

  #close(draft: Draft | undefined): undefined {
    if (draft?.isOpen === true) {
      draft.to = this.#clock;
      draft.isOpen = false;
    }
    return undefined;
  }

  #tick(ms: number): void {
    this.#clock = Math.max(this.#clock, ms);
    this.#note = this.#close(this.#note);
    for (const output of this.#outputs.values()) this.#close(output);
    this.#outputs.clear();
  }

  #begin(words: string, isAnswer: boolean): void {
    const wasAsked = this.#question !== undefined;
    this.#endTurn();
    const label = words === '' ? 'Turn' : words;
    this.#turn = this.#open('turn', isAnswer ? `${wasAsked ? 'Answer' : 'Message'}: ${label}` : label);
  }

  #endTurn(): void {
    this.#question = this.#close(this.#question);
    this.#turn = this.#close(this.#turn);
    this.#delegation = this.#close(this.#delegation);
    for (const draft of [...this.#tools.values(), ...this.#peers.values()]) this.#close(draft);
    this.#tools.clear();
    this.#peers.clear();
  }

  #state(state: TaskState, message: Message | undefined): void {
    if (isInterrupted(state)) {
      if (this.#question !== undefined) return;
      // Tools may wait for the answer, and so may the run: its bar ends here, and the answer begins another.
      this.#turn = this.#close(this.#turn);
      this.#asked = message;
      const words = wordsIn(message);
      this.#question = this.#open('question', words === '' ? 'Waits for an answer' : words);
    } else if (isTerminal(state)) {
      if (this.#turn !== undefined) this.#turn.isBad = state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED';
      this.#endTurn();
      this.#note = this.#close(this.#note);
    } else this.#question = this.#close(this.#question);
  }

  #chunk(id: string, name: string | undefined): void {
    const known = this.#outputs.get(id);
    if (known === undefined) this.#outputs.set(id, this.#open('output', name ?? id, { isRough: true }));
    else known.count += 1;
  }

  #progress(state: TaskState, message: Message | undefined, metadata: Metadata | undefined): void {
    if (message === undefined || state !== 'TASK_STATE_WORKING') return;
    if (this.#isPeers(state, message, metadata)) return;
    const kind = metadata?.['event'];
    const data = message.parts.find(isDataPart)?.data;
    const about: JsonObject = isObject(data) ? data : {};
    const id = String(about['id'] ?? '');
    if (kind === 'tool_use') {
      const title = about['title'] ?? about['tool'];
      this.#tools.set(id, this.#open('tool', typeof title === 'string' ? oneLine(title) : wordsIn(message)));
    } else if (kind === 'tool_result') {
      const tool = this.#tools.get(id);
      if (tool !== undefined) tool.isBad = about['isError'] === true;
      this.#close(tool);
    } else this.#note = this.#open('note', wordsIn(message));
  }

  /** A status of another agent, or about one, is a part of the delegation to it. False: it is the agent's own. */
  #isPeers(state: TaskState, message: Message, metadata: Metadata | undefined): boolean {
    const voice = voiceIn({ status: { state, message }, ...(metadata === undefined ? {} : { metadata }) });
    if (voice === undefined || (voice.kind === 'ends' && !this.#peers.has(voice.id))) return false;
    if (voice.kind === 'begins') this.#peer(voice.id, voice.agent, voice.description);
    else if (voice.kind === 'says') {
      const peer = [...this.#peers.values()].findLast(({ agent }) => agent === voice.agent) ?? this.#peer(voice.agent, voice.agent, '');
      this.#note = this.#open('note', wordsIn(message), peer.owns === undefined ? {} : { inside: peer.owns });
    } else {
      const peer = this.#peers.get(voice.id);
      if (peer !== undefined)
        Object.assign(peer, { isBad: voice.error !== undefined }, voice.taskId === undefined ? {} : { taskId: voice.taskId });
      this.#close(peer);
      this.#peers.delete(voice.id);
    }
    return true;
  }

  #peer(id: string, agent: string, description: string): Draft {
    const label = description === '' || description === agent ? agent : `${agent}: ${oneLine(description)}`;
    const draft = Object.assign(this.#open('delegation', label, { owns: `${this.#at} ${id}` }), { agent });
    this.#peers.set(id, draft);
    return draft;
  }

  /** Parley's own notes: the tool calls of a language model, and the task of a remote agent. True: there was such a note. */
  #noteIn(metadata: Metadata | undefined): boolean {
    let isFound = false;
    for (const [name, note] of Object.entries(metadata ?? {})) {
      if (!isObject(note)) continue;
      if (name === ORIGIN_NOTE && typeof note['taskId'] === 'string') {
        this.#close(this.#delegation);
        this.#delegation = this.#open('delegation', 'The remote agent works', { taskId: note['taskId'] });
        isFound = true;
      } else if (name.startsWith(LLM_NOTE) && Array.isArray(note['calls'])) {
        for (const call of note['calls']) if (isObject(call)) this.#call(name, call);
        isFound = true;
      }
    }
    return isFound;
  }

  #call(step: string, call: Readonly<Record<string, unknown>>): void {
    const key = `${step} ${String(call['id'])}`;
    const known = this.#tools.get(key);
    const result = call['result'];
    if (known === undefined) {
      if (call['started'] !== true || result !== undefined) return;
      this.#tools.set(key, this.#open('tool', String(call['name'])));
    } else if (result !== undefined && known.isOpen) {
      known.isBad = isObject(result) && result['isError'] === true;
      this.#close(known);
    }
  }
}

/** The bars of a task's waterfall, in the order of their start. `endMs`: up to when open ones are drawn. */
export function spansOf(events: readonly AdminEvent[], endMs: number): readonly Span[] {
  const first = events[0] === undefined ? undefined : timeOf(events[0].event);
  if (first === undefined) return [];
  const builder = new SpanBuilder(Date.parse(first));
  for (const event of events) builder.add(event);
  return builder.end(endMs);
}

/** The bars of the webhooks of a task, one for each attempt. */
export function webhookSpans(attempts: readonly AdminAttempt[]): readonly Span[] {
  return attempts.map(({ at, ms, seq, url, outcome, response }) => ({
    kind: 'webhook',
    label: `${response?.status ?? outcome} ${URL.parse(url)?.host ?? url}, event ${seq}`,
    ...{ from: Date.parse(at) - ms, to: Date.parse(at), at: seq },
    ...{ isRough: false, isOpen: false, isBad: outcome !== 'delivered' },
  }));
}
