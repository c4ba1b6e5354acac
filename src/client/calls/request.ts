import type { CallContext, Message, MessageOptions, Mutable, Part, SendRequest, TaskState } from '#protocol';
import { contextId, createUserMessage, isInterrupted, isTerminal, LOCAL_PRINCIPAL, linkSignals, messageId, taskId } from '#protocol';
import type { Way } from '../discovery/endpoints.ts';

/** What every call may say. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** For the whole call. */
  readonly totalMs?: number;
  readonly extensions?: readonly string[];
  /** W3C trace context, passed on. */
  readonly trace?: CallContext['trace'];
}

/** What is sent: a text, parts, or a message whose missing members are filled in. */
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

export interface Thread {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Message['metadata'];
}

const NO_THREAD: Thread = {};

export function messageOf(input: Input, thread: Thread = NO_THREAD): Message {
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

function messageOptions(given: Thread & { readonly messageId?: string }): MessageOptions {
  const options: Mutable<MessageOptions> = {};
  if (given.taskId !== undefined) options.taskId = taskId(given.taskId);
  if (given.contextId !== undefined) options.contextId = contextId(given.contextId);
  if (given.messageId !== undefined) options.messageId = messageId(given.messageId);
  if (given.metadata !== undefined) options.metadata = given.metadata;
  return options;
}

export interface Calling {
  readonly way: Way;
  readonly extensions: readonly string[];
  readonly totalMs: number | undefined;
}

export function contextOf(
  options: CallOptions,
  { way, extensions, totalMs }: Calling,
  signal: AbortSignal = signalOf(options.signal, options.totalMs ?? totalMs),
): CallContext {
  const ctx = {
    principal: LOCAL_PRINCIPAL,
    dialect: way.dialect.id,
    extensions: options.extensions === undefined ? extensions : [...new Set([...extensions, ...options.extensions])],
    signal,
  };
  return options.trace === undefined ? ctx : { ...ctx, trace: options.trace };
}

function signalOf(signal: AbortSignal | undefined, totalMs: number | undefined): AbortSignal {
  // Made anew for callers who never leave: a Worker can make none while it loads.
  if (totalMs === undefined) return signal ?? new AbortController().signal;
  return signal === undefined ? AbortSignal.timeout(totalMs) : linkSignals([signal], totalMs).signal;
}

/** The same, answered at once: the task has a name then, and whoever can be asked need not be waited for. */
export function unawaited(request: SendRequest): SendRequest {
  return { ...request, configuration: { ...request.configuration, returnImmediately: true } };
}

/** Nothing more comes by itself: it is over, or it waits for us. */
export function isAtRest(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
