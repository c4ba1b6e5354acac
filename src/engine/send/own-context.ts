import type { OwnCells } from '../cells/own-cells.ts';
import { ElsewhereError } from '../cells.ts';
import type { ContextFilter } from '../records.ts';
import type { SendCall } from './call.ts';

/** A message that names a context and no task is for the process that has the context. A named task decides by its own context. */
function contextOf({ request, ctx, owner, facts }: SendCall): ContextFilter | undefined {
  const { contextId, taskId } = request.message;
  const namesTask = taskId !== undefined || (ctx.semantics?.taskNames !== undefined && request.alias !== undefined);
  return contextId === undefined || namesTask ? undefined : { owner, agent: facts.agent, contextId };
}

/** A promise while the tasks of the cell are being recovered. Throws an ElsewhereError for a message that another process has to deal with. */
export function enterContext(cells: OwnCells | undefined, call: SendCall): Promise<void> | undefined {
  const context = cells === undefined ? undefined : contextOf(call);
  return context === undefined ? undefined : cells?.enter(context);
}

/** Throws an ElsewhereError for a message that another process has to deal with. */
export function checkContextOwned(cells: OwnCells | undefined, call: SendCall): void {
  const context = cells === undefined ? undefined : contextOf(call);
  if (cells !== undefined && context !== undefined && !cells.isOwn(context)) throw new ElsewhereError(cells.cellOf(context));
}
