import type { AdminTask, TaskId, TenantId } from '#protocol';
import { A2AError } from '#protocol';
import type { TaskRow } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { hold, release } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';

export async function withAny<T>(core: Core, id: TaskId, use: (live: Live) => Promise<T>): Promise<T> {
  const live = await hold(core, 'any', id);
  if (live === undefined) throw noTask(id);
  try {
    live.announced = true;
    return await use(live);
  } finally {
    release(core, live);
  }
}

export function noTask(id: TaskId): A2AError {
  return new A2AError('TASK_NOT_FOUND', `there is no task ${id}`, { info: { taskId: id } });
}

export function shown(core: Core, row: TaskRow): AdminTask {
  const { id, agent, owner, contextId, dialect, alias, state, statusAt, last, bytes, attempt } = row;
  return {
    id,
    agent,
    principal: owner.principal,
    ...(owner.tenant === '' ? {} : { tenant: owner.tenant as TenantId }),
    contextId,
    dialect,
    ...(alias === undefined ? {} : { alias }),
    state,
    statusAt: new Date(statusAt).toISOString(),
    last,
    bytes,
    attempt,
    isRunning: core.lives.get(id)?.run !== undefined,
  };
}
