import type { AgentOutput, ChoiceLike, Json, Message, Metadata, Part } from '#protocol';
import { createAgentPartsMessage, createChoicesPart, createTextPart } from '#protocol';

/** The content of a message: text, parts, or a complete message. */
export type Content = string | Part | readonly Part[] | Message;

/** One kind of output of a run. */
export type Output<Kind extends AgentOutput['kind']> = Extract<AgentOutput, { readonly kind: Kind }>;

/** An output that ends a run with a message. It is never mistaken for data. */
export type LastWord = Output<'ask' | 'auth' | 'reject' | 'fail' | 'message'>;

/** Options of `ask` and `turn.ask`. */
export interface AskOptions {
  /**
   * Choices, sent as a data part beside the text. `option` of the answer tells which one was chosen.
   */
  readonly options?: readonly ChoiceLike[];
}

/**
 * A progress note. The task stays `working`, and the note joins its history.
 *
 * ```ts
 * yield status('Reading the files');
 * ```
 */
export function status(note?: Content, metadata?: Metadata): Output<'status'> {
  return {
    kind: 'status',
    ...(note === undefined ? {} : { message: agentMessage(note) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/**
 * A chunk of text. Chunks of one artifact are appended to each other. Without a name they go to the
 * answer.
 *
 * ```ts
 * for await (const token of model.stream(prompt)) yield text(token);
 * ```
 */
export function text(chunk: string, options: Omit<Output<'text'>, 'kind' | 'text'> = {}): Output<'text'> {
  return { kind: 'text', text: chunk, ...options };
}

/**
 * A whole artifact, or with `id` and `append` a chunk of one.
 *
 * ```ts
 * yield artifact({ name: 'plan.md', parts: [{ text: plan, mediaType: 'text/markdown' }] });
 * ```
 */
export function artifact(made: Omit<Output<'artifact'>, 'kind'>): Output<'artifact'> {
  return { kind: 'artifact', ...made };
}

/**
 * An artifact with one data part.
 *
 * ```ts
 * yield data({ total: 42 }, { name: 'invoice' });
 * ```
 */
export function data(value: Json, options: { readonly name?: string } = {}): Output<'data'> {
  return { kind: 'data', data: value, ...options };
}

/**
 * Asks the caller and ends this run; the answer starts the next run. `turn.ask` waits within the run
 * instead.
 *
 * ```ts
 * return ask('Deploy to production?', { options: ['yes', 'no'] });
 * ```
 */
export function ask(question?: Content, options: AskOptions = {}): Output<'ask'> {
  return question === undefined ? { kind: 'ask' } : { kind: 'ask', question: questionMessage(question, options) };
}

/**
 * Asks the caller for credentials, which arrive outside of A2A. The run may continue afterwards.
 *
 * ```ts
 * yield auth('Please sign in at https://login.example, then I continue.');
 * ```
 */
export function auth(request: Content): Output<'auth'> {
  return { kind: 'auth', request: agentMessage(request) };
}

/**
 * Rejects the request: the agent will not do it. The task ends as rejected.
 *
 * ```ts
 * return reject('I translate text only.');
 * ```
 */
export function reject(reason: Content): Output<'reject'> {
  return { kind: 'reject', reason: agentMessage(reason) };
}

/**
 * Ends the task as failed.
 *
 * ```ts
 * return fail('The database is unreachable. Try again later.');
 * ```
 */
export function fail(reason: Content): Output<'fail'> {
  return { kind: 'fail', reason: agentMessage(reason) };
}

/**
 * A direct answer without a task. It must be the first output; after another output it completes the
 * task.
 *
 * ```ts
 * return message('Hello! How can I help?');
 * ```
 */
export function message(content: Content): Output<'message'> {
  return { kind: 'message', message: agentMessage(content) };
}

/**
 * Completes the task with a message. A run that just ends completes it as well.
 *
 * ```ts
 * return complete('Three files changed.');
 * ```
 */
export function complete(closing?: Content, metadata?: Metadata): Output<'complete'> {
  return {
    kind: 'complete',
    ...(closing === undefined ? {} : { message: agentMessage(closing) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** The message of a question, with its options as a data part. */
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
