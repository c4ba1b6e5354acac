import type { CallContext, Message, MessageOptions, Mutable, Part, SendRequest, TaskState } from '#protocol';
import { contextId, createUserMessage, isInterrupted, isTerminal, LOCAL_PRINCIPAL, linkSignals, messageId, taskId } from '#protocol';
import type { Endpoint } from '../discovery/endpoint.ts';

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call. A task that has started continues at the agent. */
  readonly signal?: AbortSignal;
  /**
   * Time limit of the whole call in milliseconds, with retries and resumed streams. Default: the
   * client's `totalMs`.
   */
  readonly totalMs?: number;
  /** URIs of extensions to activate, besides those of the client. */
  readonly extensions?: readonly string[];
  /** W3C trace context, sent to the agent. */
  readonly trace?: CallContext['trace'];
}

/** What to send: a text, parts, or a message. Missing members of a message are filled in. */
export type Input = string | readonly Part[] | MessageLike;

/**
 * A message whose ids and role may be missing. Missing ids are generated; the default role is
 * `ROLE_USER`.
 */
export interface MessageLike {
  /** The content: texts, files and data. */
  readonly parts: readonly Part[];
  /** Set it to make a retry of your own safe: the agent treats the same id as the same message. */
  readonly messageId?: string;
  /** The conversation to continue. */
  readonly contextId?: string;
  /** The task to continue. */
  readonly taskId?: string;
  /** The author. Default `ROLE_USER`. */
  readonly role?: Message['role'];
  /** Free members for the agent, for example of extensions. */
  readonly metadata?: Message['metadata'];
  /** URIs of the extensions that the message uses. */
  readonly extensions?: readonly string[];
  /** Earlier tasks that the message is about. */
  readonly referenceTaskIds?: readonly string[];
}

/** Where a message belongs. */
export interface MessageThread {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Message['metadata'];
}

const NO_THREAD: MessageThread = {};

/** Completes an input to a message. */
export function messageOf(input: Input, thread: MessageThread = NO_THREAD): Message {
  if (typeof input === 'string' || !('parts' in input)) return createUserMessage(input, messageOptions(thread));
  const { parts, role, extensions, referenceTaskIds, ...own } = input;
  const made = createUserMessage(parts, messageOptions({ ...thread, ...own }));
  return {
    ...made,
    ...(role === undefined ? {} : { role }),
    ...(extensions === undefined ? {} : { extensions }),
    ...(referenceTaskIds === undefined ? {} : { referenceTaskIds: referenceTaskIds.map(taskId) }),
  };
}

function messageOptions(given: MessageThread & { readonly messageId?: string }): MessageOptions {
  const options: Mutable<MessageOptions> = {};
  if (given.taskId !== undefined) options.taskId = taskId(given.taskId);
  if (given.contextId !== undefined) options.contextId = contextId(given.contextId);
  if (given.messageId !== undefined) options.messageId = messageId(given.messageId);
  if (given.metadata !== undefined) options.metadata = given.metadata;
  return options;
}

/** What a call uses where its options say nothing. */
export interface CallDefaults {
  readonly endpoint: Endpoint;
  readonly extensions: readonly string[];
  readonly totalMs: number | undefined;
}

/** The context of a call, from its options and the client's defaults. */
export function contextOf(
  options: CallOptions,
  { endpoint, extensions, totalMs }: CallDefaults,
  signal: AbortSignal = signalOf(options.signal, options.totalMs ?? totalMs),
): CallContext {
  const ctx = {
    principal: LOCAL_PRINCIPAL,
    dialect: endpoint.dialect.id,
    extensions: options.extensions === undefined ? extensions : [...new Set([...extensions, ...options.extensions])],
    signal,
  };
  return options.trace === undefined ? ctx : { ...ctx, trace: options.trace };
}

function signalOf(signal: AbortSignal | undefined, totalMs: number | undefined): AbortSignal {
  // Created on each call: a Worker can't create one while its module loads.
  if (totalMs === undefined) return signal ?? new AbortController().signal;
  return signal === undefined ? AbortSignal.timeout(totalMs) : linkSignals([signal], totalMs).signal;
}

/** The same request, answered at once with the task. For agents that can be polled. */
export function returningImmediately(request: SendRequest): SendRequest {
  return { ...request, configuration: { ...request.configuration, returnImmediately: true } };
}

/** The task is over, or waits for the caller: no further event comes by itself. */
export function isSettled(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
