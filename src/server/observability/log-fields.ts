import type { Caller, HttpRequest } from '#bindings';
import type { ReportedTask } from '#engine';
import type { TraceContext } from '#protocol';
import { requestIdOf } from '../access/request-id.ts';
import type { Fields } from './log.ts';

/** What else is known of a request. */
interface RequestAbout {
  readonly caller?: Pick<Caller, 'principal' | 'tenant'> | undefined;
  readonly agent?: string | undefined;
}

/** What each log line about a request says. */
export function requestFields(request: HttpRequest, { caller, agent }: RequestAbout = {}): Fields {
  const traceparent = request.header('traceparent');
  return {
    request: requestIdOf(request),
    caller: caller?.principal.id,
    tenant: named(caller?.tenant),
    agent,
    trace: traceparent === undefined ? undefined : traceId({ traceparent }),
  };
}

/** What each log line about a task says. */
export function taskFields({ id, contextId, agent, owner, origin }: ReportedTask): Fields {
  return {
    task: id,
    context: contextId,
    agent,
    caller: owner.principal,
    tenant: named(owner.tenant),
    request: origin?.requestId,
    trace: traceId(origin?.trace),
  };
}

function named(tenant: string | undefined): string | undefined {
  return tenant === '' ? undefined : tenant;
}

/** The id of a trace, from `traceparent` (W3C Trace Context §3.2). */
export function traceId(trace: TraceContext | undefined): string | undefined {
  return /^[\da-f]{2}-([\da-f]{32})-/.exec(trace?.traceparent ?? '')?.[1];
}
