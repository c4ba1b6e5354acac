import type {
  A2AService,
  AgentCard,
  CallContext,
  EventStream,
  GetRequest,
  ListRequest,
  Logged,
  Message,
  PushConfig,
  PushService,
  SendRequest,
  SendResult,
  SubscribeRequest,
  Task,
  TaskEvent,
  TaskId,
  TaskPage,
} from '#protocol';
import { A2AError, contextId, createTaskStatus, foldEvent, isInterrupted, isLast, isTerminal, pushConfigId, seq, taskId } from '#protocol';
import type { TaskRecord } from './memory-record.ts';
import { directivesOf, directly, script, statusEvent } from './memory-script.ts';

/** The requests that reached the service. */
export interface Seen {
  readonly operation: string;
  readonly request: unknown;
  readonly ctx: CallContext;
}

export interface MemoryService extends A2AService {
  readonly seen: Seen[];
  /** Number of open streams. */
  readonly openStreams: () => number;
  /** The tasks, by the ids that their callers know. */
  readonly tasks: () => readonly Task[];
  /** The whole state, to check that nothing has changed. */
  readonly state: () => string;
}

interface Memory {
  readonly tasks: Map<TaskId, TaskRecord>;
  readonly aliases: Map<string, TaskId>;
  readonly wakers: Set<() => void>;
  readonly seen: Seen[];
  readonly card: AgentCard | undefined;
  streams: number;
  last: number;
}

/** A small `A2AService` in memory that follows the directives in a message's text. */
export function memoryService(card?: AgentCard): MemoryService {
  const memory: Memory = { tasks: new Map(), aliases: new Map(), wakers: new Set(), seen: [], card, streams: 0, last: 0 };
  const note = <T>(operation: string, request: T, ctx: CallContext): T => {
    memory.seen.push({ operation, request, ctx });
    return request;
  };
  return {
    seen: memory.seen,
    openStreams: () => memory.streams,
    tasks: () => [...memory.tasks.values()].map(({ task, alias }) => (alias === undefined ? task : { ...task, id: taskId(alias) })),
    state: () => JSON.stringify([...memory.tasks.values()].map(({ task, log, push }) => [task, log.length, [...push.values()]])),
    send: async (request, ctx) => await send(memory, note('send', request, ctx), ctx),
    stream: (request, ctx) => counted(memory, stream(memory, note('stream', request, ctx), ctx)),
    get: async (request, ctx) => await get(memory, note('get', request, ctx), ctx),
    list: async (request, ctx) => list(memory, note('list', request, ctx), ctx),
    cancel: async (request, ctx) => cancel(memory, note('cancel', request, ctx).id, ctx),
    subscribe: (request, ctx) => counted(memory, subscribe(memory, note('subscribe', request, ctx), ctx)),
    push: pushService(memory, note),
    extendedCard: async (request, ctx) => {
      note('extendedCard', request, ctx);
      if (memory.card === undefined) throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
      return memory.card;
    },
    originOf: (id, ctx) => lookUp(memory, id, ctx)?.origin,
  };
}

async function* counted(memory: Memory, events: EventStream): AsyncGenerator<readonly Logged[], void> {
  memory.streams += 1;
  try {
    yield* events;
  } finally {
    memory.streams -= 1;
  }
}

// Tasks and their logs.

function lookUp(memory: Memory, id: string, ctx: CallContext): TaskRecord | undefined {
  const record = memory.tasks.get(memory.aliases.get(aliasKey(id, ctx)) ?? taskId(id));
  return record?.principal === ctx.principal.id ? record : undefined;
}

function find(memory: Memory, id: string, ctx: CallContext): TaskRecord {
  const record = lookUp(memory, id, ctx);
  if (record === undefined) throw new A2AError('TASK_NOT_FOUND', 'There is no task with this id', { info: { taskId: id } });
  return record;
}

function aliasKey(id: string, ctx: CallContext): string {
  return `${ctx.principal.id}\n${id}`;
}

function append(memory: Memory, record: TaskRecord, event: TaskEvent): void {
  record.log.push({ seq: seq(record.log.length + 1), event });
  record.task = foldEvent(record.task, event);
  for (const wake of [...memory.wakers]) wake();
}

function create(memory: Memory, request: SendRequest, ctx: CallContext): TaskRecord {
  memory.last += 1;
  const id = taskId(`task-${memory.last}`);
  const context = request.message.contextId ?? contextId(`context-${memory.last}`);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const history = [{ ...request.message, taskId: id, contextId: context }];
  const task: Task = { id, contextId: context, status: createTaskStatus('TASK_STATE_SUBMITTED', undefined, new Date(0)), history };
  const push = new Map<string, PushConfig>();
  const inline = request.configuration?.taskPushNotificationConfig;
  if (inline !== undefined) push.set(inline.id ?? 'push-1', { ...inline, id: inline.id ?? pushConfigId('push-1'), taskId: id });
  const { alias } = request;
  const owner = { principal: ctx.principal.id, origin: ctx.dialect, alias };
  const record: TaskRecord = { id, contextId: context, ...owner, log: [], push, stopped, stop, task, asked: false };
  memory.tasks.set(id, record);
  if (alias !== undefined) memory.aliases.set(aliasKey(alias, ctx), id);
  append(memory, record, { task });
  return record;
}

/** Creates the task or finds the waiting one, and starts the agent. */
function begin(memory: Memory, request: SendRequest, ctx: CallContext): { readonly record: TaskRecord; readonly after: number } {
  const named = request.message.taskId ?? request.alias;
  const known = named === undefined ? undefined : lookUp(memory, named, ctx);
  if (known === undefined && request.message.taskId !== undefined && request.alias === undefined) find(memory, request.message.taskId, ctx);
  const over = known !== undefined && isTerminal(known.task.status.state);
  if (over && request.alias === undefined) throw new A2AError('TASK_FINISHED', undefined, { info: { taskId: known.id } });
  const record = known === undefined || over ? create(memory, request, ctx) : known;
  const after = record === known ? record.log.length : 0;
  if (record === known) record.task = { ...record.task, history: [...(record.task.history ?? []), request.message] };
  void work(memory, record, request.message);
  return { record, after };
}

async function work(memory: Memory, record: TaskRecord, message: Message): Promise<void> {
  for await (const event of script(record, message)) {
    if (isTerminal(record.task.status.state)) return;
    append(memory, record, event);
  }
  record.asked = isInterrupted(record.task.status.state);
}

/** Yields the log from a position on, until the task ends, waits for the caller, or the caller leaves. */
async function* follow(memory: Memory, record: TaskRecord, after: number, ctx: CallContext): AsyncGenerator<readonly Logged[], void> {
  let seen = after;
  while (!ctx.signal.aborted) {
    const batch = record.log.slice(seen);
    seen = record.log.length;
    if (batch.length > 0) yield batch.map((logged) => ({ ...logged, event: presented(logged.event, record, ctx) }));
    const last = record.log[seen - 1]?.event;
    if (seen === record.log.length && last !== undefined && (isLast(last) || (batch.length > 0 && asks(last)))) return;
    if (seen === record.log.length) await grown(memory, ctx.signal);
  }
}

function asks(event: TaskEvent): boolean {
  return event.statusUpdate?.status.state === 'TASK_STATE_INPUT_REQUIRED';
}

async function grown(memory: Memory, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  memory.wakers.add(resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  memory.wakers.delete(resolve);
}

// The caller's view: its own name for the task, and the requested history.

function presented(event: TaskEvent, record: TaskRecord, ctx: CallContext): TaskEvent {
  if (record.alias === undefined || ctx.semantics?.taskNames === undefined) return event;
  const id = taskId(record.alias);
  if (event.task !== undefined) return { task: { ...event.task, id } };
  if (event.statusUpdate !== undefined) return { statusUpdate: { ...event.statusUpdate, taskId: id } };
  if (event.artifactUpdate !== undefined) return { artifactUpdate: { ...event.artifactUpdate, taskId: id } };
  return event;
}

function view(record: TaskRecord, ctx: CallContext, historyLength: number | undefined): Task {
  const { history, ...task } = presented({ task: record.task }, record, ctx).task ?? record.task;
  const wanted = historyLength ?? Number.POSITIVE_INFINITY;
  return wanted === 0 || history === undefined ? task : { ...task, history: history.slice(-wanted) };
}

// The operations.

async function send(memory: Memory, request: SendRequest, ctx: CallContext): Promise<SendResult> {
  const direct = directly(request.message);
  if (direct !== undefined) return { message: direct };
  const { record, after } = begin(memory, request, ctx);
  const immediately = request.configuration?.returnImmediately ?? false;
  if (!immediately) for await (const _ of follow(memory, record, after, ctx)) if (isInterrupted(record.task.status.state)) break;
  return { task: view(record, ctx, request.configuration?.historyLength) };
}

async function* stream(memory: Memory, request: SendRequest, ctx: CallContext): AsyncGenerator<readonly Logged[], void> {
  const direct = directly(request.message);
  if (direct !== undefined) return yield [{ event: { message: direct } }];
  const { record, after } = begin(memory, request, ctx);
  if (after > 0) yield [{ seq: seq(after), event: presented({ task: view(record, ctx, undefined) }, record, ctx) }];
  for await (const batch of follow(memory, record, after, ctx)) {
    yield batch;
    if (directivesOf(request.message).words.has('break-now')) throw new Error('secret inside');
  }
}

async function get(memory: Memory, request: GetRequest, ctx: CallContext): Promise<Task> {
  return view(find(memory, request.id, ctx), ctx, request.historyLength);
}

async function* subscribe(memory: Memory, request: SubscribeRequest, ctx: CallContext): AsyncGenerator<readonly Logged[], void> {
  const record = find(memory, request.id, ctx);
  const resumes = request.after !== undefined && request.after > 0 && request.after <= record.log.length;
  if (!resumes && isTerminal(record.task.status.state)) throw new A2AError('UNSUPPORTED_OPERATION', 'the task is finished');
  const place = resumes ? Number(request.after) : record.log.length;
  const task = record.log.slice(0, place).reduce<Task | undefined>((folded, { event }) => foldEvent(folded, event), undefined);
  if (task !== undefined) yield [{ seq: seq(place), event: presented({ task }, record, ctx) }];
  yield* follow(memory, record, place, ctx);
}

function cancel(memory: Memory, id: TaskId, ctx: CallContext): Task {
  const record = find(memory, id, ctx);
  const { state } = record.task.status;
  if (isTerminal(state) && state !== 'TASK_STATE_CANCELED') throw new A2AError('TASK_NOT_CANCELABLE', undefined, { info: { taskId: id } });
  if (!isTerminal(state)) append(memory, record, statusEvent(record, 'TASK_STATE_CANCELED'));
  record.stop();
  return view(record, ctx, undefined);
}

function list(memory: Memory, request: ListRequest, ctx: CallContext): TaskPage {
  const mine = [...memory.tasks.values()].filter(({ principal }) => principal === ctx.principal.id).reverse();
  const fits = mine.filter(({ task }) => request.contextId === undefined || task.contextId === request.contextId);
  const matching = fits.filter(({ task }) => request.status === undefined || task.status.state === request.status);
  const pageSize = request.pageSize ?? 50;
  const start = Number(request.pageToken ?? 0);
  if (!Number.isInteger(start)) throw new A2AError('INVALID_PARAMS', 'is not one of ours', { field: 'pageToken' });
  const tasks = matching.slice(start, start + pageSize).map((record) => {
    const { artifacts, ...task } = view(record, ctx, request.historyLength);
    return request.includeArtifacts === true && artifacts !== undefined ? { ...task, artifacts } : task;
  });
  const end = start + pageSize;
  return { tasks, nextPageToken: end < matching.length ? String(end) : '', pageSize, totalSize: matching.length };
}

function pushService(memory: Memory, note: <T>(operation: string, request: T, ctx: CallContext) => T): PushService {
  const configOf = (record: TaskRecord, id: string | undefined): PushConfig => {
    const config = id === undefined ? [...record.push.values()][0] : record.push.get(id);
    if (config === undefined) throw new A2AError('TASK_NOT_FOUND', 'There is no such push notification config');
    return config;
  };
  return {
    create: async (config, ctx) => {
      note('push.create', config, ctx);
      const record = find(memory, config.taskId ?? '', ctx);
      const id = config.id ?? pushConfigId(`push-${record.push.size + 1}`);
      record.push.set(id, { ...config, id });
      return { ...config, id };
    },
    get: async (request, ctx) => configOf(find(memory, note('push.get', request, ctx).taskId, ctx), request.id),
    list: async (request, ctx) => ({ configs: [...find(memory, note('push.list', request, ctx).taskId, ctx).push.values()] }),
    delete: async (request, ctx) => {
      find(memory, note('push.delete', request, ctx).taskId, ctx).push.delete(request.id);
    },
  };
}
