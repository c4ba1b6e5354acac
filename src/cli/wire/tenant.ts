import type { A2AService, TenantId } from '#protocol';

/** Puts exactly the tenant of the chosen interface in every request; without one the field stays away (A2A 1.0.1 §4.4.6). */
export function withTenant(next: A2AService, tenant: TenantId | undefined): A2AService {
  if (tenant === undefined || tenant === '') return next;
  const mine = <T extends object>(request: T): T & { readonly tenant: TenantId } => ({ ...request, tenant });
  return {
    send: (request, ctx) => next.send(mine(request), ctx),
    stream: (request, ctx) => next.stream(mine(request), ctx),
    get: (request, ctx) => next.get(mine(request), ctx),
    list: (request, ctx) => next.list(mine(request), ctx),
    cancel: (request, ctx) => next.cancel(mine(request), ctx),
    subscribe: (request, ctx) => next.subscribe(mine(request), ctx),
    push: {
      create: (config, ctx) => next.push.create(mine(config), ctx),
      get: (request, ctx) => next.push.get(mine(request), ctx),
      list: (request, ctx) => next.push.list(mine(request), ctx),
      delete: (request, ctx) => next.push.delete(mine(request), ctx),
    },
    extendedCard: (request, ctx) => next.extendedCard(mine(request), ctx),
  };
}
