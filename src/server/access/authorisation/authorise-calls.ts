import type { A2AService, CallContext, Operation, SendResult, TaskId } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import type { CallInterceptor, InterceptedCall } from '../../agents/intercept.ts';
import { interceptCalls, observeStream } from '../../agents/intercept.ts';
import type { Audit } from '../../audit/audit.ts';
import type { AuditDraft } from '../../audit/chain.ts';
import { isLocal } from '../authentication/caller.ts';
import type { AuthorisationTarget } from './scopes.ts';
import { missingScope, missingScopeError } from './scopes.ts';

/**
 * The audit log records these operations when they are allowed, because they change something. Others
 * are recorded only when refused.
 */
const CHANGING: ReadonlySet<Operation> = new Set(['send', 'stream', 'cancel', 'push.create', 'push.delete']);
const REFUSED: ReadonlySet<string> = new Set(['PERMISSION_DENIED', 'RATE_LIMITED', 'UNAUTHENTICATED']);

/**
 * Step 4 of the access checks, for A2A operations: checks the tenant and the scope of each call before
 * the service looks anything up, and records the call in the audit log.
 */
export function authoriseCalls(service: A2AService, target: AuthorisationTarget, audit: Audit): A2AService {
  const record = ({ operation, request, ctx }: InterceptedCall, thrown: unknown, task?: string): void => {
    const isRefused = isA2AError(thrown) && REFUSED.has(thrown.kind);
    if (!isRefused && !CHANGING.has(operation)) return;
    const { principal, tenant, request: facts } = ctx;
    const draft: AuditDraft = {
      principal: principal.id,
      tenant: tenant === '' ? undefined : tenant,
      action: operation,
      object: task ?? objectOf(request),
      agent: target.agent,
      decision: isRefused ? 'denied' : 'allowed',
      reason: isRefused ? thrown.message : undefined,
      requestId: facts?.id,
      client: facts?.client,
    };
    if (isRefused) audit.refused(draft);
    else audit.record(draft);
  };
  /** A send is recorded when it is admitted, because its task may take hours. A service that does not tell is recorded at the end. */
  const recording = (call: InterceptedCall): { readonly ctx: CallContext; ended(thrown: unknown, task?: string): void } => {
    if (call.operation !== 'send' && call.operation !== 'stream') return { ctx: call.ctx, ended: (thrown) => record(call, thrown) };
    let isRecorded = false;
    const ended = (thrown: unknown, task?: string): void => {
      if (!isRecorded) record(call, thrown, task);
      isRecorded = true;
    };
    const onAdmitted = (task: TaskId): void => {
      ended(undefined, task);
      call.ctx.onAdmitted?.(task);
    };
    return { ctx: { ...call.ctx, onAdmitted }, ended };
  };
  const interceptor: CallInterceptor = {
    unary: (call, next) => {
      if (isOpenNode(call.ctx)) return next(call.ctx);
      const error = authorisationError(call, target);
      const { ctx, ended } = recording(call);
      const result = error === undefined ? next(ctx) : Promise.reject(error);
      return result.then(
        (value) => {
          ended(undefined, call.operation === 'send' ? (value as SendResult).task?.id : undefined);
          return value;
        },
        (thrown: unknown) => {
          ended(thrown);
          throw thrown;
        },
      );
    },
    stream: (call, next) => {
      if (isOpenNode(call.ctx)) return next(call.ctx);
      const { ctx, ended } = recording(call);
      return observeStream(
        () => {
          const error = authorisationError(call, target);
          if (error !== undefined) throw error;
          return next(ctx);
        },
        (thrown) => ended(thrown),
      );
    },
  };
  return interceptCalls(service, interceptor);
}

/** Without authentication there is one caller, `local`, who may do everything. */
function isOpenNode(ctx: CallContext): boolean {
  return (ctx.request === undefined || ctx.request.isOpen === true) && isLocal(ctx);
}

/** The error for a call that the caller may not make. Undefined: it is allowed. */
function authorisationError({ operation, request, ctx }: InterceptedCall, target: AuthorisationTarget): A2AError | undefined {
  const { tenant } = request as { readonly tenant?: string };
  // The tenant in a request is for routing only. The credential decides which tenant the caller belongs to (docs/faults.md, S2).
  if (ctx.tenant !== undefined && tenant !== undefined && tenant !== ctx.tenant) {
    return new A2AError('PERMISSION_DENIED', 'this credential does not belong to that tenant');
  }
  const scope = missingScope(ctx.principal, operation, target);
  return scope === undefined ? undefined : missingScopeError(scope);
}

/** What a call is about, for the audit log: a task, or else a context. */
function objectOf(request: InterceptedCall['request']): string | undefined {
  const { id, taskId, message } = request as {
    readonly id?: string;
    readonly taskId?: string;
    readonly message?: { readonly taskId?: string; readonly contextId?: string };
  };
  return taskId ?? id ?? message?.taskId ?? message?.contextId;
}
