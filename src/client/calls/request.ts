import type { CallContext, Message, MessageOptions, Mutable, Part, SendRequest, TaskState } from '#protocol';
import { contextId, createUserMessage, isInterrupted, isTerminal, LOCAL_PRINCIPAL, linkSignals, messageId, taskId } from '#protocol';
import type { Endpoint } from '../discovery/endpoint.ts';

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Time limit of the whole call. */
  readonly totalMs?: number;
  readonly extensions?: readonly string[];
  /** W3C trace context, sent to the agent. */
  readonly trace?: CallContext['trace'];
}

/** What to send: a text, parts, or a message. Missing members of a message are filled in. */
export type Input = string | readonly Part[] | MessageLike;

export interface MessageLike {
  readonly parts: readonly Part[];
  readonly messageId?: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly role?: Message['role'];
  readonly metadata?: Message['metadata'];
  readonly extensions?: readonly string[];
  readonly referenceTaskIds?: readonly string[];
}

export interface MessageThread {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Message['metadata'];
}

const NO_THREAD: MessageThread = {};

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

export interface CallDefaults {
  readonly endpoint: Endpoint;
  readonly extensions: readonly string[];
  readonly totalMs: number | undefined;
}

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
