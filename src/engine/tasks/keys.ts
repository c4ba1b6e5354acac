import type { CallContext } from '#protocol';
import type { Owner, TaskScope } from '../ports.ts';

/**
 * The owner of what a call creates or reads. The tenant of the credential takes precedence over the one
 * in the request.
 */
export function ownerOf(ctx: CallContext, request: { readonly tenant?: string }): Owner {
  return { tenant: ctx.tenant ?? request.tenant ?? '', principal: ctx.principal.id };
}

/** Whether the owner belongs to the scope. */
export function isIn(scope: TaskScope, owner: Owner): boolean {
  return scope === 'any' || (scope.tenant === owner.tenant && (scope.principal === undefined || scope.principal === owner.principal));
}

/**
 * A map key for a name that a caller chose. The lengths come first, so that two different lists of
 * strings never give the same key.
 */
export function scopedKey(owner: Owner, agent: string, name: string): string {
  return `${owner.tenant.length}.${owner.principal.length}.${agent.length}.${owner.tenant}${owner.principal}${agent}${name}`;
}
