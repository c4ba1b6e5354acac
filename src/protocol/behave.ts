import { createRegistry } from './dialects/create-registry.ts';
import type { Traits } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/registry.ts';
import { isA2AError } from './errors.ts';
import type { BatchIterator, EventStream, Logged, TaskEvent, Waiter } from './events.ts';
import type { DialectId } from './ids.ts';
import { contextId, taskId } from './ids.ts';
import type { CancelRequest, GetRequest, ListRequest, SendRequest, SendResult, SubscribeRequest } from './requests.ts';
import type { A2AService, CallContext, CallSemantics } from './service.ts';
import { isTerminal } from './states.ts';
import type { Task } from './task.ts';
import { createTaskStatus } from './task.ts';

/** Decorated services by traits and service, so that each pair is built once. */
const DONE: WeakMap<Traits, WeakMap<A2AService, A2AService>> = new WeakMap();

/**
 * Makes a service that has A2A 1.0 semantics behave as the callers of another dialect expect. It fills
 * in what their requests leave to the dialect's defaults, sets `ctx.semantics`, and replaces results
 * and errors that the dialect does not have. Nothing else reads traits.
 *
 * Bindings call it for every request: the result is kept for each pair of service and traits, and is
 * the service itself where the traits are those of A2A 1.0.
 *
 * ```ts
 * const task = await behave(service, dialect.traits).cancel({ id }, ctx); // 0.3 as coding-agent-a2a spells it: also for a finished task
 * ```
 */
export function behave(service: A2AService, traits: Traits): A2AService {
  let services = DONE.get(traits);
  if (services === undefined) {
    services = new WeakMap();
    DONE.set(traits, services);
  }
  let behaved = services.get(service);
  if (behaved === undefined) {
    behaved = decorated(service, traits);
    services.set(service, behaved);
  }
  return behaved;
}

/** How a dialect's answers differ from A2A 1.0. */
export interface DialectSemantics extends CallSemantics {
  /** Messages of the history in an answer whose request does not say how many. Absent: all of them. */
  readonly historyLength?: 0;
}

const BY_ID = new Map<DialectId, DialectSemantics>();

/**
 * The semantics of a dialect that is known by its stored id alone, for answers that no request asks
 * for: replies, webhooks, an operator's retry. An unknown id counts as A2A 1.0.
 */
export function semanticsOfDialect(id: DialectId): DialectSemantics {
  let semantics = BY_ID.get(id);
  if (semantics === undefined) {
    const dialect = createRegistry(DIALECTS).byId(id);
    semantics = dialect === undefined ? {} : semanticsOf(dialect.traits);
    BY_ID.set(id, semantics);
  }
  return semantics;
}

/**
 * Translates the traits of a dialect into the differences that the engine implements. A dialect that
 * behaves like 1.0 has none.
 */
function semanticsOf(traits: Traits): DialectSemantics {
  return {
    ...(traits.callerNamesTask ? { taskNames: traits.namesOnce === true ? ('once' as const) : ('reusable' as const) } : {}),
    ...(traits.resumesByContext ? { continuesByContext: true } : {}),
    ...(traits.mintsMessageIds === true ? { mintedMessageId: true } : {}),
    ...(traits.directMessage === 'as-task' ? { tasksOnly: true } : {}),
    ...(traits.subscribeFinished === 'error' ? {} : { showsFinished: true }),
    ...(traits.subscribeFinished === 'returns-status' ? { subscriptionEndsOnQuestion: true } : {}),
    ...(traits.streamsThroughQuestions === true ? { streamsThroughQuestions: true } : {}),
    ...(traits.cancelsOnce === true ? { cancelsOnce: true } : {}),
    ...(traits.sendMsMax === undefined ? {} : { sendMsMax: traits.sendMsMax }),
    ...(traits.historyDefault === 'none' ? { historyLength: 0 } : {}),
  };
}

/**
 * Wraps a service for callers of a dialect. Returns the service itself if the dialect behaves like
 * 1.0.
 */
function decorated(next: A2AService, traits: Traits): A2AService {
  const { historyLength, ...semantics } = semanticsOf(traits);
  const hidesHistory = historyLength === 0;
  const returnsFinished = traits.cancelFinished === 'returns-task';
  const showsStatus = traits.subscribeFinished === 'returns-status';
  const listing = traits.listsArtifacts === true ? withArtifacts : (request: ListRequest) => request;
  if (Object.keys(semantics).length === 0 && !hidesHistory && !returnsFinished) return next;
  const into = (ctx: CallContext): CallContext => ({ ...ctx, semantics });
  const sending = hidesHistory ? withoutSentHistory : (request: SendRequest) => request;
  const reading = hidesHistory ? withoutHistory : <T extends object>(request: T) => request;
  const get = (request: GetRequest, ctx: CallContext): Promise<Task> => next.get(reading(request), ctx);
  const { originOf, keepsReplies, conversation, forget } = next;
  return {
    send: (request, ctx) => {
      const result = next.send(sending(request), into(ctx));
      return semantics.tasksOnly === true ? result.then((answer) => asTask(answer, request)) : result;
    },
    stream: (request, ctx) => {
      const events = next.stream(sending(request), into(ctx));
      if (semantics.tasksOnly !== true || request.alias === undefined) return events;
      return startingWith(events, async (first) => eventsAsTask(await first, request));
    },
    get: (request, ctx) => get(request, into(ctx)),
    list: (request, ctx) => next.list(listing(reading(request)), into(ctx)),
    cancel: async (request, ctx) => {
      const inner = into(ctx);
      const task = returnsFinished ? await canceledOrFinished(next, request, inner) : await next.cancel(request, inner);
      return hidesHistory ? taskWithoutHistory(task) : task;
    },
    subscribe: (request, ctx) => {
      const inner = into(ctx);
      const events = next.subscribe(request, inner);
      if (semantics.showsFinished !== true) return events;
      return startingWith(events, async (opened) => {
        const first = await opened.catch((thrown: unknown) => finished(thrown, () => get(taskIn(request), inner)));
        return showsStatus && request.after === undefined ? statusOnly(first) : first;
      });
    },
    push: {
      create: (config, ctx) => next.push.create(config, into(ctx)),
      get: (request, ctx) => next.push.get(request, into(ctx)),
      list: (request, ctx) => next.push.list(request, into(ctx)),
      delete: (request, ctx) => next.push.delete(request, into(ctx)),
    },
    extendedCard: (request, ctx) => next.extendedCard(request, into(ctx)),
    ...(originOf === undefined ? {} : { originOf: (task, ctx) => next.originOf?.(task, into(ctx)) }),
    ...(conversation === undefined ? {} : { conversation: (request, ctx) => conversation.call(next, request, into(ctx)) }),
    ...(forget === undefined ? {} : { forget: (request, ctx) => forget.call(next, request, into(ctx)) }),
    ...(keepsReplies === undefined ? {} : { keepsReplies }),
  };
}

function withoutHistory<T extends { readonly historyLength?: number }>(request: T): T {
  return request.historyLength === undefined ? { ...request, historyLength: 0 } : request;
}

function withoutSentHistory(request: SendRequest): SendRequest {
  if (request.configuration?.historyLength !== undefined) return request;
  return { ...request, configuration: { ...request.configuration, historyLength: 0 } };
}

function withArtifacts(request: ListRequest): ListRequest {
  return request.includeArtifacts === undefined ? { ...request, includeArtifacts: true } : request;
}

function taskWithoutHistory(task: Task): Task {
  if (task.history === undefined) return task;
  const { history: _, ...rest } = task;
  return rest;
}

function taskIn({ id, tenant }: CancelRequest | SubscribeRequest): GetRequest {
  return tenant === undefined ? { id } : { id, tenant };
}

/** In some dialects canceling a finished task returns the task instead of an error. */
async function canceledOrFinished(next: A2AService, request: CancelRequest, ctx: CallContext): Promise<Task> {
  try {
    return await next.cancel(request, ctx);
  } catch (thrown) {
    if (!isA2AError(thrown) || thrown.kind !== 'TASK_NOT_CANCELABLE') throw thrown;
    return await next.get(taskIn(request), ctx);
  }
}

/**
 * In dialects where the caller names the task, turns a direct message into a completed task of that
 * name. Where the server names tasks, the dialect creates an id when it writes the message as a task.
 */
function asTask<T extends SendResult | TaskEvent>(result: T, request: SendRequest): T | { readonly task: Task } {
  const { message } = result;
  if (message === undefined || request.alias === undefined) return result;
  const context = message.contextId ?? request.message.contextId;
  const status = createTaskStatus('TASK_STATE_COMPLETED', message);
  return { task: { id: taskId(request.alias), ...(context === undefined ? {} : { contextId: context }), status } };
}

type Batch = readonly Logged[];
type Step = IteratorResult<Batch, unknown>;

/** Does the same for a stream: a direct message is its first and only event. */
function eventsAsTask(first: Step, request: SendRequest): Step {
  if (first.done === true || first.value[0]?.event.message === undefined) return first;
  return { done: false, value: first.value.map((logged) => ({ ...logged, event: asTask(logged.event, request) })) };
}

/** The snapshot of a task that does not work any more, as its status. */
function statusOnly(first: Step): Step {
  const task = first.done === true ? undefined : first.value[0]?.event.task;
  if (first.done === true || task === undefined) return first;
  const { id, contextId: context, status } = task;
  if (!isTerminal(status.state) && status.state !== 'TASK_STATE_INPUT_REQUIRED') return first;
  const event: TaskEvent = { statusUpdate: { taskId: id, contextId: context ?? contextId(''), status } };
  return { done: false, value: first.value.map((logged, at) => (at === 0 ? { ...logged, event } : logged)) };
}

/**
 * The snapshot of a finished task, for services that reject a subscription to one regardless of
 * `showsFinished`, such as the link of a proxied agent.
 */
async function finished(thrown: unknown, get: () => Promise<Task>): Promise<Step> {
  if (!isA2AError(thrown) || (thrown.kind !== 'UNSUPPORTED_OPERATION' && thrown.kind !== 'TASK_FINISHED')) throw thrown;
  const task = await get();
  if (!isTerminal(task.status.state)) throw thrown;
  return { done: false, value: [{ event: { task } }] };
}

/** A stream whose first step passes through `change`. If the first step fails, the stream ends. */
function startingWith(events: EventStream, change: (first: Promise<Step>) => Promise<Step>): EventStream {
  return { [Symbol.asyncIterator]: () => new ChangedStart(events[Symbol.asyncIterator](), change) };
}

/**
 * A class, so that after the first step only the inner stream stays referenced: thousands of streams
 * wait at the same time.
 */
class ChangedStart implements BatchIterator {
  readonly #inner: BatchIterator;
  #change: ((first: Promise<Step>) => Promise<Step>) | undefined;
  #hasFailed = false;

  constructor(inner: BatchIterator, change: (first: Promise<Step>) => Promise<Step>) {
    this.#inner = inner;
    this.#change = change;
  }

  next(): Promise<Step> {
    const change = this.#change;
    if (change === undefined) return this.#hasFailed ? Promise.resolve({ done: true, value: undefined }) : this.#inner.next();
    this.#change = undefined;
    const first = this.#inner.next();
    first.catch(() => {
      this.#hasFailed = true;
    });
    return change(first);
  }

  waitsFor(waiter: Waiter): boolean {
    return this.#change === undefined && !this.#hasFailed && this.#inner.waitsFor?.(waiter) === true;
  }

  async return(): Promise<Step> {
    await this.#inner.return?.();
    return { done: true, value: undefined };
  }
}
