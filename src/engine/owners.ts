/** The caller that a task belongs to. Nobody else can see the task. */
export interface Owner {
  /** Empty if there are no tenants. */
  readonly tenant: string;
  /** Id of the authenticated caller. */
  readonly principal: string;
}

/** All principals of a tenant. */
export interface TenantScope {
  /** Name of the tenant. */
  readonly tenant: string;
  /** Always absent, which tells it apart from an `Owner`. */
  readonly principal?: undefined;
}

/** Whose tasks a read may see. Every read names an owner; the operators of a tenant use a `TenantScope`, those of the node use `any`. */
export type TaskScope = Owner | TenantScope | 'any';
