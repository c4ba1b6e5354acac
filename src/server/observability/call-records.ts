import { ElsewhereError } from '#engine';
import type { A2AService, CallContext, EventStream, Operation, TaskState } from '#protocol';
import { A2AError } from '#protocol';
import type { CallInterceptor } from '../agents/intercept.ts';
import { interceptCalls, observeStream } from '../agents/intercept.ts';
import type { Log } from './log.ts';
import { traceId } from './log-fields.ts';

/** One call of an agent, as a line of a log shows it. */
export interface CallRecord {
  /** The id of the principal. Empty if the request was refused before it was known. */
  readonly who: string;
  /** The caller's dialect. Empty for a refused request. */
  readonly dialect: string;
  /** The operation, or method and path of a refused request. */
  readonly operation: string;
  /** The agent's name. */
  readonly agent: string;
  /** `ok`, the kind of the error, or the HTTP status of a refused request. */
  readonly outcome: string;
  /** The id of the task that the call was about. */
  readonly task?: string;
  /** The id of its context. */
  readonly context?: string;
  /** The id of the request, as its response has it in `X-Request-Id`. */
  readonly request?: string;
  /** The id of the caller's trace. */
  readonly trace?: string;
  /** The state of that task at the end of the call. */
  readonly state?: TaskState;
  /** How long the call took; a stream until its end. */
  readonly ms: number;
}

interface TaskSeen {
  task?: string;
  context?: string;
  state?: TaskState;
}

/** Gets the calls of a service. */
export interface CallRecorder {
  /** Called at the end of each call. */
  readonly onCall: (call: CallRecord) => void;
  /** Whether calls that begin now are recorded. Default: all are. */
  readonly isOn?: () => boolean;
}

/** The same service, whose calls are recorded. */
export function recordCalls(service: A2AService, agent: string, { onCall, isOn = () => true }: CallRecorder): A2AService {
  const record = (operation: Operation, ctx: CallContext, end: TaskSeen & { readonly began: number; readonly thrown?: unknown }): void => {
    const { began, thrown, ...seen } = end;
    if (thrown instanceof ElsewhereError) return; // recorded where it is answered
    const outcome = thrown === undefined ? 'ok' : A2AError.from(thrown).kind;
    const trace = traceId(ctx.trace);
    const origin = { ...(ctx.request === undefined ? {} : { request: ctx.request.id }), ...(trace === undefined ? {} : { trace }) };
    onCall({ who: ctx.principal.id, dialect: ctx.dialect, operation, agent, outcome, ...seen, ...origin, ms: performance.now() - began });
  };
  const recorded: CallInterceptor['unary'] = async ({ operation, request, ctx }, next) => {
    const began = performance.now();
    const named = seenIn(request);
    try {
      const result = await next(ctx);
      record(operation, ctx, { ...named, ...seenIn(result), began });
      return result;
    } catch (thrown) {
      record(operation, ctx, { ...named, began, thrown });
      throw thrown;
    }
  };
  const by: CallInterceptor = {
    unary: (call, next) => (isOn() ? recorded(call, next) : next(call.ctx)),
    stream: ({ operation, request, ctx }, next) => {
      if (!isOn()) return next(ctx);
      const began = performance.now();
      const seen = seenIn(request);
      const open = (): EventStream => watched(next(ctx), seen);
      return observeStream(open, (thrown) => record(operation, ctx, { ...seen, began, ...(thrown === undefined ? {} : { thrown }) }));
    },
  };
  return interceptCalls(service, by);
}

/** Writes each call to the log, at the level `debug`. The level may change while the node runs. */
export function logCalls(log: Log): CallRecorder {
  return {
    onCall: ({ who, ms, ...call }) => log.debug('call', { ...call, caller: who, ms: Math.round(ms) }),
    isOn: () => log.isOn('debug'),
  };
}

/** Not a generator: that would pass a reader's leaving on only after the next event. */
function watched(events: EventStream, seen: TaskSeen): EventStream {
  return {
    [Symbol.asyncIterator]: () => {
      const inner = events[Symbol.asyncIterator]();
      return {
        next: async () => {
          const next = await inner.next();
          if (next.done !== true) for (const { event } of next.value) Object.assign(seen, seenIn(event), seenIn(event.statusUpdate));
          return next;
        },
        return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

/** The task that a request, a result or an event names: `{ task: … }`, `{ taskId, status }`, or a task itself. */
function seenIn(value: unknown): TaskSeen {
  const members = objectOf(value);
  const inner = objectOf(members['task']);
  const id = inner['id'] ?? members['taskId'] ?? objectOf(members['message'])['taskId'] ?? members['id'];
  const context = inner['contextId'] ?? members['contextId'] ?? objectOf(members['message'])['contextId'];
  const state = objectOf(inner['status'] ?? members['status'])['state'];
  return {
    ...(typeof id === 'string' ? { task: id } : {}),
    ...(typeof context === 'string' ? { context } : {}),
    ...(isState(state) ? { state } : {}),
  };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isState(value: unknown): value is TaskState {
  return typeof value === 'string' && value.startsWith('TASK_STATE_');
}
