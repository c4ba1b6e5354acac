import type { A2AService, CallContext, Operation, SendResult } from '#protocol';
import { A2AError, isA2AError } from '#protocol';
import type { CallInterceptor, InterceptedCall } from '../../agents/intercept.ts';
import { interceptCalls, observeStream } from '../../agents/intercept.ts';
import type { Audit } from '../../audit/audit.ts';
import type { AuditDraft } from '../../audit/chain.ts';
import { isLocal } from '../authentication/caller.ts';
import type { AuthorisationTarget } from './scopes.ts';
import { missingScope } from './scopes.ts';

/** What changes something is written down when it is allowed; all else only when it is not. */
const CHANGING: ReadonlySet<Operation> = new Set(['send', 'stream', 'cancel', 'push.create', 'push.delete']);
const REFUSED: ReadonlySet<string> = new Set(['PERMISSION_DENIED', 'RATE_LIMITED', 'UNAUTHENTICATED']);

/** Authorisation, before anything is looked up: whose tenant, and which scope. It also writes down what was allowed and what was not. */
export function authorise(service: A2AService, target: AuthorisationTarget, audit: Audit): A2AService {
  const note = ({ operation, request, ctx }: InterceptedCall, thrown: unknown, sent?: SendResult): void => {
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
  const by: CallInterceptor = {
    unary: (call, next) => {
      if (isOpen(call.ctx)) return next(call.ctx);
      const refused = refusalOf(call, target);
      const result = refused === undefined ? next(call.ctx) : Promise.reject(refused);
      return result.then(
        (value) => {
          note(call, undefined, call.operation === 'send' ? (value as SendResult) : undefined);
          return value;
        },
        (thrown: unknown) => {
          note(call, thrown);
          throw thrown;
        },
      );
    },
    stream: (call, next) => {
      if (isOpen(call.ctx)) return next(call.ctx);
      return observeStream(
        () => {
          const refused = refusalOf(call, target);
          if (refused !== undefined) throw refused;
          return next(call.ctx);
        },
        (thrown) => note(call, thrown),
      );
    },
  };
  return interceptCalls(service, by);
}

/** Open loopback has one caller, who may do everything. */
function isOpen(ctx: CallContext): boolean {
  return ctx.request === undefined && isLocal(ctx);
}

function refusalOf({ operation, request, ctx }: InterceptedCall, target: AuthorisationTarget): A2AError | undefined {
  const { tenant } = request as { readonly tenant?: string };
  // What a request says of its tenant is routing; who one is, the credential says (reference/faults S2).
  if (ctx.tenant !== undefined && tenant !== undefined && tenant !== ctx.tenant) {
    return new A2AError('PERMISSION_DENIED', 'this credential is not one of that tenant');
  }
  const scope = missingScope(ctx.principal, operation, target);
  if (scope === undefined) return undefined;
  return new A2AError('PERMISSION_DENIED', `this needs the scope ${scope}`, {
    challenge: `Bearer realm="parley", error="insufficient_scope", scope="${scope}"`,
  });
}

function objectOf(request: InterceptedCall['request']): string | undefined {
  const { id, taskId, message } = request as {
    readonly id?: string;
    readonly taskId?: string;
    readonly message?: { readonly taskId?: string; readonly contextId?: string };
  };
  return taskId ?? id ?? message?.taskId ?? message?.contextId;
}
