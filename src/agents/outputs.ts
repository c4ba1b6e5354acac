import type { AgentOutput, ChoiceLike, Json, Message, Metadata, Part } from '#protocol';
import { createAgentPartsMessage, createChoicesPart, createTextPart } from '#protocol';

/** What can be said: words, parts, or a message made by hand. */
export type Content = string | Part | readonly Part[] | Message;

/** One kind of what a run yields. */
export type Output<Kind extends AgentOutput['kind']> = Extract<AgentOutput, { readonly kind: Kind }>;

/** What ends a run with words. They are a message, so none of these can be mistaken for data. */
export type LastWord = Output<'ask' | 'auth' | 'reject' | 'fail' | 'message'>;

export interface AskOptions {
  /** Choices, sent as a data part beside the words. The answer's `option` says which one was taken. */
  readonly options?: readonly ChoiceLike[];
}

/** A progress note. The task is working, which it is anyway; the note joins its history. */
export function status(note?: Content, metadata?: Metadata): Output<'status'> {
  return {
    kind: 'status',
    ...(note === undefined ? {} : { message: agentMessage(note) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** A chunk of text. Chunks of one artifact are appended to each other; without a name they go to the answer. */
export function text(chunk: string, options: Omit<Output<'text'>, 'kind' | 'text'> = {}): Output<'text'> {
  return { kind: 'text', text: chunk, ...options };
}

/** A whole artifact, or with `id` and `append` a chunk of one. */
export function artifact(made: Omit<Output<'artifact'>, 'kind'>): Output<'artifact'> {
  return { kind: 'artifact', ...made };
}

/** An artifact of one data part. */
export function data(value: Json, options: { readonly name?: string } = {}): Output<'data'> {
  return { kind: 'data', data: value, ...options };
}

/** The task waits for its caller, and this run ends: the answer starts the next one. `turn.ask` waits within the run instead. */
export function ask(question?: Content, options: AskOptions = {}): Output<'ask'> {
  return question === undefined ? { kind: 'ask' } : { kind: 'ask', question: questionMessage(question, options) };
}

/** The caller has to bring credentials, by a way outside A2A. */
export function auth(request: Content): Output<'auth'> {
  return { kind: 'auth', request: agentMessage(request) };
}

/** The agent will not do it. */
export function reject(reason: Content): Output<'reject'> {
  return { kind: 'reject', reason: agentMessage(reason) };
}

/** The agent tried and could not. */
export function fail(reason: Content): Output<'fail'> {
  return { kind: 'fail', reason: agentMessage(reason) };
}

/** A direct answer without a task. It must be the first thing that is said: once a task is announced, it closes that task. */
export function message(content: Content): Output<'message'> {
  return { kind: 'message', message: agentMessage(content) };
}

/** Done, with closing words. A run that just ends is done as well. */
export function complete(closing?: Content, metadata?: Metadata): Output<'complete'> {
  return {
    kind: 'complete',
    ...(closing === undefined ? {} : { message: agentMessage(closing) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

export function questionMessage(question: Content, { options }: AskOptions): Message {
  const asked = agentMessage(question);
  return options === undefined ? asked : { ...asked, parts: [...asked.parts, createChoicesPart(options)] };
}

function agentMessage(content: Content): Message {
  if (typeof content === 'string') return createAgentPartsMessage([createTextPart(content)]);
  if (isParts(content)) return createAgentPartsMessage(content);
  return isMessage(content) ? content : createAgentPartsMessage([content]);
}

function isParts(content: Part | readonly Part[] | Message): content is readonly Part[] {
  return Array.isArray(content);
}

function isMessage(content: Part | Message): content is Message {
  return 'parts' in content;
}
