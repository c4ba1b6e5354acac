import type { Caller } from '#bindings';
import type { Operation, Principal } from '#protocol';
import { A2AError, OPERATIONS } from '#protocol';

/**
 * The scopes of a caller by default: every A2A operation, but neither the admin API nor agents that run
 * commands.
 */
export const CALLER_SCOPES: readonly string[] = ['tasks:read', 'tasks:write', 'tasks:cancel', 'push:write', 'card:extended'];

/**
 * The scope of the node's operators. A credential that belongs to a tenant never has it, whatever its
 * scopes are.
 */
export const NODE_ADMIN = 'node-admin';

/** Whether the caller may administer the whole node. */
export function isNodeAdmin({ principal, tenant }: Caller): boolean {
  return (tenant ?? '') === '' && (hasScope(principal, 'admin') || hasScope(principal, NODE_ADMIN));
}

/** Whether the caller may administer its own tenant. */
export function isTenantAdmin({ principal, tenant }: Caller): boolean {
  return (tenant ?? '') !== '' && hasScope(principal, 'admin');
}

/** The agent that an operation is for. */
export interface AuthorisationTarget {
  readonly agent: string;
  readonly runsCommands: boolean;
}

/**
 * The first scope that the principal lacks. Sends to an agent that runs commands also need
 * `executor:NAME`, which no caller has by default.
 */
export function missingScope(principal: Principal, operation: Operation, { agent, runsCommands }: AuthorisationTarget): string | undefined {
  const needed = OPERATIONS[operation].scope;
  if (needed !== undefined && !hasScope(principal, needed)) return needed;
  const executor = `executor:${agent}`;
  const starts = operation === 'send' || operation === 'stream';
  return runsCommands && starts && !hasScope(principal, executor) ? executor : undefined;
}

export function missingScopeError(scope: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `this needs the scope ${scope}`, {
    challenge: `Bearer realm="parley", error="insufficient_scope", scope="${scope}"`,
  });
}

/** `*` stands for every scope, `tasks:*` for every scope that starts with `tasks:`. */
export function hasScope({ scopes }: Principal, scope: string): boolean {
  return scopes.includes('*') || scopes.includes(scope) || scopes.includes(`${scope.slice(0, scope.indexOf(':') + 1)}*`);
}

/**
 * Whether this server knows the scope: a caller's, `admin`, `node-admin`, `executor:NAME`, or a
 * wildcard over them.
 */
export function isKnownScope(text: string): boolean {
  return CALLER_SCOPES.includes(text) || /^(?:\*|admin|node-admin|(?:tasks|push|card|executor|admin):\*|executor:[\w.-]+)$/.test(text);
}

/** Whether the text is a scope token (RFC 6749 §3.3). */
export function isScope(text: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(text);
}
