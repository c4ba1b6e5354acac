import type { CallContext, DialectId, ExternalId, TaskId, TenantId } from '#protocol';
import { A2AError } from '#protocol';
import type { Owner } from '../ports.ts';
import type { Served } from '../send/call.ts';
import type { Core } from '../tasks/core.ts';
import { hold, isIn, ownerOf, release, scopedKey } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import { nextCommit } from '../tasks/live-task.ts';

/** Somebody asks for a task. */
export interface Asked {
  readonly served: Served;
  readonly ctx: CallContext;
  readonly request: { readonly id: TaskId; readonly tenant?: TenantId };
}

/** Held until `use` is done with it. */
export async function withTask<T>(core: Core, asked: Asked, use: (live: Live) => Promise<T>): Promise<T> {
  const live = await find(core, asked);
  try {
    return await use(live);
  } finally {
    release(core, live);
  }
}

/** By id; in dialects where callers name tasks, by their name first. What is found is durable, and its caller knows of it. */
export async function find(core: Core, { served, ctx, request }: Asked): Promise<Live> {
  const owner = ownerOf(ctx, request);
  const { id } = request;
  if (core.phase === 'new') throw new A2AError('UNAVAILABLE', 'the server is starting', { retryAfterMs: 1000 });
  const live = await hold(
    core,
    owner,
    core.traitsOf(ctx.dialect).callerNamesTask ? await idBehind(core, { owner, agent: served.agent, id }) : id,
  );
  if (live !== undefined && live.row.agent === served.agent) {
    if (live.committed > 0 || (await isBorn(core, live, ctx.signal))) {
      live.announced = true;
      return live;
    }
  }
  if (live !== undefined) release(core, live);
  throw new A2AError('TASK_NOT_FOUND', `there is no task ${id}`, { info: { taskId: id } });
}

interface Named {
  readonly owner: Owner;
  readonly agent: string;
  readonly id: TaskId;
}

/** The id of the latest task that this caller calls so; the id itself if it calls none so. */
export async function idBehind(core: Core, { owner, agent, id }: Named): Promise<TaskId> {
  const alias = id as string as ExternalId;
  const row = core.aliases.get(scopedKey(owner, agent, alias))?.row ?? (await core.store.byAlias(owner, agent, alias));
  return row?.id ?? id;
}

/** The dialect of a task that the caller names by its id or, where callers give names, by theirs. */
export function dialectOf(core: Core, { owner, agent, id }: Named): DialectId | undefined {
  const alias = id as string as ExternalId;
  const live = core.lives.get(id)?.row;
  const found =
    (live !== undefined && isIn(owner, live.owner) ? live : undefined) ??
    core.aliases.get(scopedKey(owner, agent, alias))?.row ??
    core.store.task(owner, id) ??
    core.store.byAlias(owner, agent, alias);
  // A store over a network would make every request wait for a question that few of them have.
  return found instanceof Promise ? undefined : found?.dialect;
}

/** Its first commit is under way: a moment, unless a direct message takes its place or the store fails. */
async function isBorn(core: Core, live: Live, signal: AbortSignal): Promise<boolean> {
  while (live.committed === 0 && !live.isGone && !signal.aborted) {
    core.writer.check();
    await nextCommit(live, signal);
  }
  return live.committed > 0 && !live.isGone;
}
