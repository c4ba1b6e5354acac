import type { Owner, TaskScope } from '../owners.ts';
import type { ListFilter, TaskRow } from '../ports.ts';

/** Whether a list of this filter contains the row. */
export function isListed(row: TaskRow, filter: ListFilter): boolean {
  return fits(row, filter) && row.statusAt >= (filter.statusFrom ?? Number.NEGATIVE_INFINITY);
}

/** Whether a row matches all filters but the time. */
export function fits(row: TaskRow, { owner, agent, contextId, state }: ListFilter): boolean {
  return (
    isIn(owner, row.owner) &&
    (agent === undefined || row.agent === agent) &&
    (contextId === undefined || row.contextId === contextId) &&
    (state === undefined || row.state === state)
  );
}

export function isIn(scope: TaskScope, owner: Owner): boolean {
  return scope === 'any' || (scope.tenant === owner.tenant && (scope.principal === undefined || scope.principal === owner.principal));
}
