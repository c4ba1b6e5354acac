import type { A2AService, CallContext, EventStream, Logged, Operation, SendResult, StreamOperation, Task } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import type { Around, Passing } from '../around.ts';
import { around, watched } from '../around.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditDraft } from '../audit/chain.ts';
import { isLocal } from './gate.ts';
import type { Leave, Quotas } from './quotas.ts';
import type { Target } from './scopes.ts';
import { missingScope } from './scopes.ts';

export interface Guarding {
  readonly quotas: Quotas;
  readonly audit: Audit;
}

/** What changes something is written down when it is allowed; all else only when it is not. */
const CHANGING: ReadonlySet<Operation> = new Set(['send', 'stream', 'cancel', 'push.create', 'push.delete']);
const REFUSED: ReadonlySet<string> = new Set(['PERMISSION_DENIED', 'RATE_LIMITED', 'UNAUTHENTICATED']);

/** Authorisation, before anything is looked up: whose tenant, which scope, how much. */
export function guarded(service: A2AService, target: Target, { quotas, audit }: Guarding): A2AService {
  const note = (passing: Passing, thrown: unknown, sent?: SendResult): void => {
    const { operation, request, ctx } = passing;
    const isRefused = isA2AError(thrown) && REFUSED.has(thrown.kind);
    if (!isRefused && !CHANGING.has(operation)) return;
    const { principal, tenant, request: facts } = ctx;
    const draft: AuditDraft = {
      principal: principal.id,
      tenant: tenant === '' ? undefined : tenant,
      action: operation,
      object: sent?.task?.id ?? objectOf(request),
      agent: target.agent,
      decision: isRefused ? 'denied' : 'allowed',
      reason: isRefused ? thrown.message : undefined,
      requestId: facts?.id,
      client: facts?.client,
    };
    if (isRefused) audit.refused(draft);
    else audit.record(draft);
  };
  /** Written down when it is over. */
  const noted = <T>(call: Passing, result: Promise<T>, leave?: Leave): Promise<T> =>
    result.then(
      (value) => {
        const sent = call.operation === 'send' ? (value as SendResult) : undefined;
        leave?.(sent);
        note(call, undefined, sent);
        return value;
      },
      (thrown: unknown) => {
        leave?.();
        note(call, thrown);
        throw thrown;
      },
    );
  const by: Around = {
    unary: (call, next) => {
      if (isOpen(call.ctx)) return next(call.ctx);
      try {
        authorise(call, target);
        const entered = call.operation === 'send' ? quotas.task(call.ctx, service) : undefined;
        if (!(entered instanceof Promise)) return noted(call, next(call.ctx), entered);
        return entered.then(
          (leave) => noted(call, next(call.ctx), leave),
          (thrown: unknown) => noted(call, Promise.reject(thrown)),
        );
      } catch (thrown) {
        note(call, thrown);
        return Promise.reject(thrown);
      }
    },
    stream: (call, next) => (isOpen(call.ctx) ? next(call.ctx) : guardedStream({ call, next, service, target, quotas, note })),
  };
  return around(service, by);
}

interface Streaming {
  readonly call: Passing<StreamOperation>;
  readonly next: (ctx: CallContext) => EventStream;
  readonly service: A2AService;
  readonly target: Target;
  readonly quotas: Quotas;
  readonly note: (passing: Passing, thrown: unknown) => void;
}

function guardedStream({ call, next, service, target, quotas, note }: Streaming): EventStream {
  let leaveStream: (() => void) | undefined;
  let leaveTask: Leave | undefined;
  let task: Task | undefined;
  let isOver = false;
  let isNoted = false;
  const noteOnce = (thrown?: unknown): void => {
    if (!isNoted) note(call, thrown);
    isNoted = true;
  };
  async function* open(): AsyncGenerator<readonly Logged[], void> {
    authorise(call, target);
    leaveStream = quotas.stream(call.ctx);
    if (call.operation === 'stream') leaveTask = await quotas.task(call.ctx, service);
    noteOnce();
    for await (const batch of next(call.ctx)) {
      task ??= batch[0]?.event.task;
      yield batch;
    }
    isOver = !call.ctx.signal.aborted; // the stream of a caller who left ends as quietly
  }
  return watched(open, (thrown) => {
    leaveStream?.();
    // Who leaves in the midst has a task that goes on.
    leaveTask?.(isOver || task === undefined ? undefined : { task });
    noteOnce(thrown);
  });
}

/** Open loopback has one caller, who may do everything. */
function isOpen(ctx: CallContext): boolean {
  return ctx.request === undefined && isLocal(ctx);
}

function authorise({ operation, request, ctx }: Passing, target: Target): void {
  const { tenant } = request as { readonly tenant?: string };
  // What a request says of its tenant is routing; who one is, the credential says (reference/faults S2).
  if (ctx.tenant !== undefined && tenant !== undefined && tenant !== ctx.tenant) {
    throw new A2AError('PERMISSION_DENIED', 'this credential is not one of that tenant');
  }
  const scope = missingScope(ctx.principal, operation, target);
  if (scope === undefined) return;
  throw new A2AError('PERMISSION_DENIED', `this needs the scope ${scope}`, {
    challenge: `Bearer realm="parley", error="insufficient_scope", scope="${scope}"`,
  });
}

function objectOf(request: Passing['request']): string | undefined {
  const { id, taskId, message } = request as {
    readonly id?: string;
    readonly taskId?: string;
    readonly message?: { readonly taskId?: string; readonly contextId?: string };
  };
  return taskId ?? id ?? message?.taskId ?? message?.contextId;
}
