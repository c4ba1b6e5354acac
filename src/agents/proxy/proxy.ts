import type { A2AService, Agent, AgentCard, AgentOutput, CallContext, Message, Principal, TaskEvent, TaskId, Turn } from '#protocol';
import { createAgentTextMessage, isInterrupted, isLetGo, isTerminal } from '#protocol';
import { sleep } from '../sleep.ts';
import type { CardRewriting } from './card.ts';
import { proxyCard } from './card.ts';
import { callingContext, extensionsFor, linger } from './context.ts';
import { findSent } from './find.ts';
import type { ProxyTimeouts } from './follow.ts';
import { DEFAULT_PROXY_TIMEOUTS, follow, originError, stateIn } from './follow.ts';
import { startMerge } from './merge.ts';
import type { Origin } from './origin.ts';
import { idIn, noted, originIn, originOf } from './origin.ts';
import type { Conversation } from './request.ts';
import { requestFor } from './request.ts';
import { talk } from './talk.ts';

/** Options of `proxyAgent`. */
export interface ProxyOptions extends CardRewriting, Partial<ProxyTimeouts> {
  /** Calls the origin: a client's `service`, a link, or another engine. */
  readonly service: A2AService;
  /** The origin's own card. */
  readonly card: AgentCard;
  /** Pass the caller's principal to the origin, which then authorises callers itself. Default false. */
  readonly passesPrincipal?: boolean;
  /**
   * The origin recognises a repeated message by its id. After a crash the message is then sent again
   * instead of failing the task. Default false.
   */
  readonly isIdempotent?: boolean;
}

const NOT_TWICE = 'It may have received the message, so the message is not sent again automatically. Check there, or send it again.';
/** How long to wait for the origin to receive a cancel. */
const CANCEL_MS_MAX = 10_000;
/** How soon a caller's message is noticed while the origin waits for a credential. */
const NOTICE_MS = 250;

/**
 * Publishes a remote agent (the origin) as an agent of this node. Its tasks are stored here:
 * subscribers can reconnect to this node even if the origin has no streams, and after a restart the
 * task is found at the origin by the id in our log. Questions and cancels are passed on.
 *
 * ```ts
 * const client = await A2AClient.connect('https://agent.example');
 * const agent = proxyAgent({ service: client.service, card: client.card });
 * ```
 */
export function proxyAgent(options: ProxyOptions): Agent {
  const { service, card: origin } = options;
  const card = proxyCard(origin, options);
  const proxy: Proxy = {
    service,
    origin,
    isIdempotent: options.isIdempotent === true,
    passesPrincipal: options.passesPrincipal === true,
    patience: {
      unreachableMsMax: options.unreachableMsMax ?? DEFAULT_PROXY_TIMEOUTS.unreachableMsMax,
      pollMs: options.pollMs ?? DEFAULT_PROXY_TIMEOUTS.pollMs,
    },
  };
  return {
    card,
    recovery: 'resume',
    checksInputModes: true,
    open: async (): Promise<Conversation> => ({}),
    run: (turn) => run(proxy, turn),
    canceled: async (task, { principal }) => {
      const known = originOf(task);
      if (known !== undefined) await cancel(proxy, known.taskId, { id: principal, scopes: [] });
    },
    ...(origin.capabilities.extendedAgentCard === true ? { extendedCard: () => extendedCard(proxy, options) } : {}),
  };
}

interface Proxy {
  readonly service: A2AService;
  readonly origin: AgentCard;
  readonly isIdempotent: boolean;
  readonly passesPrincipal: boolean;
  readonly patience: ProxyTimeouts;
}

async function extendedCard({ service, origin }: Proxy, options: ProxyOptions): Promise<AgentCard> {
  const ctx = callingContext({ signal: AbortSignal.timeout(CANCEL_MS_MAX), extensions: extensionsFor(origin) });
  return proxyCard(await service.extendedCard({}, ctx), options);
}

/**
 * Passes one message to the origin and its events back. The origin's ids are stored as soon as they are
 * known.
 */
async function* run(proxy: Proxy, turn: Turn): AsyncGenerator<AgentOutput> {
  const conversation = turn.opened as Conversation | undefined;
  const merge = startMerge(turn.task);
  let known = originOf(turn.task);
  // It is unknown whether the origin has the message, and a message that is sent twice may be executed twice.
  if (turn.attempt > 1 && known === undefined && !proxy.isIdempotent) {
    known = await sentBefore(proxy, turn);
    if (known === undefined) {
      yield { kind: 'fail', reason: createAgentTextMessage(`${proxy.origin.name} had not answered before the restart. ${NOT_TWICE}`) };
      return;
    }
    yield { kind: 'status', metadata: noted(known) };
  }
  let isOpen = known !== undefined;
  try {
    for await (const event of eventsFor(proxy, turn, known?.taskId)) {
      const found = originIn(event);
      const context = found?.contextId ?? event.message?.contextId;
      if (context !== undefined && conversation !== undefined) conversation.contextId = context;
      if (found !== undefined && found.taskId !== known?.taskId) {
        known = found;
        isOpen = true;
        yield { kind: 'status', metadata: noted(found) };
      }
      const state = stateIn(event);
      if (state !== undefined) isOpen = !isTerminal(state);
      yield* merge.outputs(event);
    }
  } catch (thrown) {
    if (turn.signal.aborted) throw thrown;
    throw originError(thrown, proxy.origin.name);
  } finally {
    // No caller waits for it any more, and a run that was only detached is resumed later.
    if (known !== undefined && isOpen && turn.signal.aborted && !isLetGo(turn.signal)) void cancel(proxy, known.taskId, turn.principal);
  }
}

/**
 * The origin's events in this turn: the answer to the message or, in a later attempt, what followed
 * since the last one was interrupted.
 */
async function* eventsFor(proxy: Proxy, turn: Turn, known: TaskId | undefined): AsyncGenerator<TaskEvent> {
  const unsent = unsentIn(turn);
  let id = turn.attempt > 1 ? known : undefined;
  let message = id === undefined ? turn.message : await answerFor(proxy, { turn, id, unsent });
  for (;;) {
    let last: TaskEvent | undefined;
    for await (const event of message === undefined && id !== undefined ? following(proxy, turn, id) : sending(proxy, turn, message)) {
      last = event;
      yield event;
    }
    id = idIn(last) ?? id;
    if (id === undefined || !isUnauthorized(last)) return;
    // The credential may arrive another way, and the origin continues by itself. Or the caller sends a message, which is the next turn.
    message = unsent.shift();
    if (message === undefined && !(await authorized(proxy, turn, id))) return;
  }
}

/** The origin's task with the message of this turn, if the origin lists it. */
async function sentBefore(proxy: Proxy, turn: Turn): Promise<Origin | undefined> {
  const { message } = await requestFor(turn, turn.message);
  const { service, patience } = proxy;
  return findSent({ service, message, ctx: contextFor(proxy, turn), unreachableMsMax: patience.unreachableMsMax });
}

/**
 * The caller's message while a detached run was away. The engine takes it for the answer to that run's
 * question.
 */
function unsentIn({ task, history, hasNext }: Turn): Message[] {
  if (hasNext()) return [];
  return (task.history ?? []).slice(history.length + 1).filter(({ role }) => role === 'ROLE_USER');
}

interface Resuming {
  readonly turn: Turn;
  readonly id: TaskId;
  readonly unsent: Message[];
}

/** If the origin still waits, it has not received the caller's message. */
async function answerFor(proxy: Proxy, { turn, id, unsent }: Resuming): Promise<Message | undefined> {
  if (unsent.length === 0) return undefined;
  const { status } = await proxy.service.get({ id }, contextFor(proxy, turn));
  return isInterrupted(status.state) ? unsent.shift() : undefined;
}

function isUnauthorized(event: TaskEvent | undefined): boolean {
  return event !== undefined && stateIn(event) === 'TASK_STATE_AUTH_REQUIRED';
}

/**
 * Sends the message. When the task is canceled before the origin has named it, the call continues for a
 * moment.
 */
async function* sending(proxy: Proxy, turn: Turn, message: Message = turn.message): AsyncGenerator<TaskEvent> {
  const { service, origin, patience } = proxy;
  const request = await requestFor(turn, message);
  const lingering = linger(turn.signal, CANCEL_MS_MAX);
  const later = contextFor(proxy, turn, request.message.messageId);
  const ctx = { ...later, signal: lingering.signal };
  try {
    for await (const event of talk({ service, request, ctx, later, patience, streams: hasStreams(origin) })) {
      yield event;
      lingering.end();
    }
  } finally {
    lingering.end();
  }
}

function following(proxy: Proxy, turn: Turn, id: TaskId): AsyncGenerator<TaskEvent> {
  const { service, origin, patience } = proxy;
  return follow({ service, id, ctx: contextFor(proxy, turn), patience, streams: hasStreams(origin) });
}

/** A card that says nothing may belong to an agent that streams. */
function hasStreams({ capabilities }: AgentCard): boolean {
  return capabilities.streaming !== false;
}

/** Whether the origin continues; false if the caller has sent a message first. */
async function authorized(proxy: Proxy, turn: Turn, id: TaskId): Promise<boolean> {
  const { service, origin, patience } = proxy;
  const ctx = callingContext({
    signal: turn.signal,
    extensions: extensionsFor(origin),
    ...asCaller(proxy, turn.principal),
    ...inTrace(turn),
  });
  for (let waitedMs = 0; ; waitedMs += NOTICE_MS) {
    if (turn.hasNext()) return false;
    await sleep(NOTICE_MS, turn.signal);
    if (waitedMs % Math.max(patience.pollMs, NOTICE_MS) >= NOTICE_MS) continue;
    const task = await service.get({ id }, ctx);
    if (task.status.state !== 'TASK_STATE_AUTH_REQUIRED') return true;
  }
}

function asCaller({ passesPrincipal }: Proxy, principal: Principal): { readonly principal?: Principal } {
  return passesPrincipal ? { principal } : {};
}

/** Calls of the origin continue the trace of the run. */
function inTrace({ trace }: Turn): Pick<CallContext, 'trace'> {
  return trace === undefined ? {} : { trace };
}

function contextFor(proxy: Proxy, turn: Turn, idempotencyKey?: string): CallContext {
  return callingContext({
    signal: turn.signal,
    extensions: extensionsFor(proxy.origin, turn.message),
    ...asCaller(proxy, turn.principal),
    ...inTrace(turn),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });
}

/** Cancels the task at the origin. Failures are ignored: here it is canceled in any case. */
async function cancel(proxy: Proxy, id: TaskId, principal: Principal): Promise<void> {
  const { service, origin } = proxy;
  const calling = { signal: AbortSignal.timeout(CANCEL_MS_MAX), extensions: extensionsFor(origin), ...asCaller(proxy, principal) };
  try {
    await service.cancel({ id }, callingContext(calling));
  } catch {
    // The task is finished there, or the origin is unreachable. Here it is canceled in any case.
  }
}
