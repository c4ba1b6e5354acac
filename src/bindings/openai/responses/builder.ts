import type { Json, JsonObject, Message, TaskEvent, TaskState } from '#protocol';
import { callerToolsIn, isInterrupted } from '#protocol';
import type { ChatReply } from '../reply.ts';
import { startReply } from '../reply.ts';
import { callId, responseId } from './ids.ts';

/** What a response is made of besides the agent's events. */
export interface ResponseFacts {
  /** Name of the agent. */
  readonly model: string;
  /** Unix time in seconds. */
  readonly created: number;
  /** The id of the message that the response answers. */
  readonly message: string;
  /** Members of the request that the response repeats. */
  readonly echo: JsonObject;
  /** Functions that the caller can run. */
  readonly tools: ReadonlySet<string>;
  readonly task?: string;
}

/** One event of a streamed response. */
export type ResponseEvent = JsonObject & { readonly type: string };

interface OutputItem {
  readonly index: number;
  item: JsonObject;
  text: string;
}

/** Zeros, because agents do not report token counts, and clients require the member. */
const USAGE: JsonObject = {
  ...{ input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

/** Turns an agent's events into an OpenAI response, and into the events of its stream. */
export class ResponseBuilder {
  readonly #facts: ResponseFacts;
  readonly reply: ChatReply = startReply();
  readonly #items: OutputItem[] = [];
  #open: OutputItem | undefined;
  #sequence = 0;
  #hasBegun = false;

  constructor(facts: ResponseFacts) {
    this.#facts = facts;
  }

  get id(): string {
    const { model, created, message, task } = this.#facts;
    return responseId({ agent: model, task: this.reply.taskId ?? task ?? '', message, created });
  }

  add(event: TaskEvent): readonly ResponseEvent[] {
    const calls = this.#callsIn(event);
    const pieces = this.reply.add(calls.length === 0 ? event : withoutQuestion(event));
    const out = [...this.#begin()];
    for (const { kind, text } of pieces) out.push(...(kind === 'text' ? this.#text(text) : this.#note(text)));
    for (const { id, name, arguments: input } of calls) out.push(...this.#call({ id, name, input: JSON.stringify(input) }));
    return out;
  }

  end(): readonly ResponseEvent[] {
    const out = [...this.#begin(), ...this.#close()];
    const response = this.response();
    const type = response['status'] === 'completed' ? 'response.completed' : 'response.failed';
    return [...out, this.#event(type, { response })];
  }

  /** The response as it stands. */
  response(): JsonObject {
    const { model, created, echo } = this.#facts;
    const status = statusOf(this.reply.state);
    const { failure } = this.reply;
    const isFailed = status === 'failed' && failure !== undefined;
    return {
      ...{ id: this.id, object: 'response', created_at: created, status, model, ...echo },
      error: isFailed ? { code: 'server_error', message: failure.message } : null,
      incomplete_details: null,
      output: this.#items.map(({ item }) => item),
      ...{ temperature: null, top_p: null, tool_choice: 'auto', truncation: 'disabled', reasoning: null, max_output_tokens: null },
      text: { format: { type: 'text' } },
      usage: status === 'completed' ? USAGE : null,
      a2a: originOf(this.reply),
    };
  }

  #begin(): readonly ResponseEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const status = statusOf(this.reply.state) === 'queued' ? 'queued' : 'in_progress';
    const response = { ...this.response(), status, output: [], error: null, usage: null };
    return [this.#event('response.created', { response }), this.#event(`response.${status}`, { response })];
  }

  #callsIn(event: TaskEvent): ReturnType<typeof callerToolsIn> {
    const status = (event.task ?? event.statusUpdate)?.status;
    if (status?.message === undefined || !isInterrupted(status.state)) return [];
    const calls = callerToolsIn(status.message);
    return calls.every(({ name }) => this.#facts.tools.has(name)) ? calls : [];
  }

  #text(delta: string): readonly ResponseEvent[] {
    const out: ResponseEvent[] = [];
    let open = this.#open;
    if (open === undefined) {
      open = this.#item('msg', { type: 'message', status: 'in_progress', role: 'assistant', content: [] });
      this.#open = open;
      out.push(this.#event('response.output_item.added', { output_index: open.index, item: open.item }));
      out.push(this.#event('response.content_part.added', { ...this.#in(open), part: textPart('') }));
    }
    open.text += delta;
    out.push(this.#event('response.output_text.delta', { ...this.#in(open), delta, logprobs: [] }));
    open.item = { ...open.item, content: [textPart(open.text)] };
    return out;
  }

  /** Progress is a reasoning summary, which clients show apart from the answer. */
  #note(text: string): readonly ResponseEvent[] {
    const closed = this.#close();
    const made = this.#item('rs', { type: 'reasoning', summary: [] });
    const at = { item_id: made.item['id'] ?? '', output_index: made.index, summary_index: 0 };
    const part: JsonObject = { type: 'summary_text', text };
    const added = this.#event('response.output_item.added', { output_index: made.index, item: made.item });
    made.item = { ...made.item, summary: [part] };
    return [
      ...closed,
      added,
      this.#event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }),
      this.#event('response.reasoning_summary_text.delta', { ...at, delta: text }),
      this.#event('response.reasoning_summary_text.done', { ...at, text }),
      this.#event('response.reasoning_summary_part.done', { ...at, part }),
      this.#event('response.output_item.done', { output_index: made.index, item: made.item }),
    ];
  }

  #call({ id, name, input }: { readonly id: string; readonly name: string; readonly input: string }): readonly ResponseEvent[] {
    const closed = this.#close();
    const call_id = callId(this.reply.taskId ?? '', id);
    const made = this.#item('fc', { type: 'function_call', status: 'in_progress', call_id, name, arguments: '' });
    const at = { item_id: made.item['id'] ?? '', output_index: made.index };
    const added = this.#event('response.output_item.added', { output_index: made.index, item: made.item });
    made.item = { ...made.item, status: 'completed', arguments: input };
    return [
      ...closed,
      added,
      this.#event('response.function_call_arguments.delta', { ...at, delta: input }),
      this.#event('response.function_call_arguments.done', { ...at, name, arguments: input }),
      this.#event('response.output_item.done', { output_index: made.index, item: made.item }),
    ];
  }

  /** Ends the open message. */
  #close(): readonly ResponseEvent[] {
    const open = this.#open;
    if (open === undefined) return [];
    this.#open = undefined;
    open.item = { ...open.item, status: 'completed' };
    return [
      this.#event('response.output_text.done', { ...this.#in(open), text: open.text, logprobs: [] }),
      this.#event('response.content_part.done', { ...this.#in(open), part: textPart(open.text) }),
      this.#event('response.output_item.done', { output_index: open.index, item: open.item }),
    ];
  }

  #item(prefix: string, item: JsonObject): OutputItem {
    const index = this.#items.length;
    const made: OutputItem = { index, item: { id: `${prefix}_${this.#facts.message}_${index}`, ...item }, text: '' };
    this.#items.push(made);
    return made;
  }

  #in({ item, index }: OutputItem): JsonObject {
    return { item_id: item['id'] ?? '', output_index: index, content_index: 0 };
  }

  #event(type: string, members: Readonly<Record<string, Json>>): ResponseEvent {
    const event = { type, sequence_number: this.#sequence, ...members };
    this.#sequence += 1;
    return event;
  }
}

/** The status of a response. A question is an answer like any other: the next request answers it. */
export function statusOf(state: TaskState | undefined): string {
  switch (state) {
    case 'TASK_STATE_SUBMITTED':
      return 'queued';
    case 'TASK_STATE_WORKING':
    case 'TASK_STATE_UNSPECIFIED':
      return 'in_progress';
    case 'TASK_STATE_FAILED':
    case 'TASK_STATE_REJECTED':
      return 'failed';
    case 'TASK_STATE_CANCELED':
      return 'cancelled';
    default:
      return 'completed';
  }
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function originOf({ taskId, contextId, state }: ChatReply): JsonObject {
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(state === undefined ? {} : { state }),
  };
}

/** The calls that the question asks for stand for it. */
function withoutQuestion(event: TaskEvent): TaskEvent {
  const plain = <T extends { readonly status: { readonly state: TaskState; readonly message?: Message } }>(of: T): T => ({
    ...of,
    status: { state: of.status.state },
  });
  if (event.task !== undefined) return { task: plain(event.task) };
  return event.statusUpdate === undefined ? event : { statusUpdate: plain(event.statusUpdate) };
}
