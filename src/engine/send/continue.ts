import type { ContextId, Message, Seq, TaskId } from '#protocol';
import { A2AError, choiceIn, getChoicesFromMessage, isInterrupted } from '#protocol';
import type { TaskRow } from '../ports.ts';
import { idBehind } from '../read/find.ts';
import { questionOf } from '../read/replay.ts';
import type { Core } from '../tasks/core.ts';
import { hold, release, scopedKey } from '../tasks/core.ts';
import type { Live } from '../tasks/live-task.ts';
import type { Call } from './call.ts';

/** The task that a message goes on with, or after if it is finished; held. */
export interface Continued {
  readonly live: Live;
  /** Set if only the context told: the task waited, and this was the last that had happened to it. */
  readonly waitedAt?: Seq;
}

/** Undefined: nothing has to be looked for. */
export function continued(core: Core, call: Call): Promise<Continued | undefined> | undefined {
  const { request, traits } = call;
  const { taskId, contextId } = request.message;
  if (taskId !== undefined) return named(core, call, taskId);
  if (traits.callerNamesTask && request.alias !== undefined) return aliased(core, call, request.alias);
  if (traits.resumesByContext && contextId !== undefined) return waited(core, call, contextId);
  return undefined;
}

/** Two messages under a new name at once make one task: the second finds what the first has just made. */
export function madeMeanwhile(core: Core, { request, owner, served, traits }: Call): Live | undefined {
  if (!traits.callerNamesTask || request.alias === undefined || request.message.taskId !== undefined) return undefined;
  const live = core.aliases.get(scopedKey(owner, served.agent, request.alias));
  return live?.isGone === true ? undefined : live;
}

/** A message that names no task is meant for the question that it was held against, and for no later one. */
export function isStillMeant(continuing: Continued | undefined): boolean {
  return continuing?.waitedAt === undefined || continuing.live.row.last === continuing.waitedAt;
}

async function named(core: Core, { request, owner, served, traits }: Call, taskId: TaskId): Promise<Continued> {
  const { contextId } = request.message;
  const id = traits.callerNamesTask ? await idBehind(core, { owner, agent: served.agent, id: taskId }) : taskId;
  const live = await hold(core, owner, id);
  if (live !== undefined && live.row.agent === served.agent && (contextId ?? live.row.contextId) === live.row.contextId) return { live };
  if (live !== undefined) release(core, live);
  if (live?.row.agent !== served.agent) throw new A2AError('TASK_NOT_FOUND', `there is no task ${taskId}`, { info: { taskId } });
  throw new A2AError('INVALID_PARAMS', 'message.contextId is not the context of the task', { field: 'message.contextId' });
}

/** Decision 9: the latest task of that name goes on; if it is finished, a new one in its context does. */
async function aliased(core: Core, { owner, served }: Call, alias: NonNullable<TaskRow['alias']>): Promise<Continued | undefined> {
  const key = scopedKey(owner, served.agent, alias);
  const id = core.aliases.get(key)?.row.id ?? (await core.store.byAlias(owner, served.agent, alias))?.id;
  const live = id === undefined ? undefined : await hold(core, owner, id);
  return live === undefined ? undefined : { live };
}

/**
 * Only if exactly one waits: a guess is worse than a new task. And if that one offers choices, only a message that makes one: an
 * approval is never taken from words that happen to come by.
 */
async function waited(core: Core, { request, owner, served }: Call, contextId: ContextId): Promise<Continued | undefined> {
  const rows = await core.store.waiting({ owner, agent: served.agent, contextId }, 2);
  const [only] = rows;
  const live = only === undefined || rows.length > 1 ? undefined : await hold(core, owner, only.id);
  if (live === undefined) return undefined;
  const waitedAt = live.row.last;
  let isMeant = false;
  try {
    isMeant = isInterrupted(live.row.state) && (await mayAnswer(core, live, request.message));
  } finally {
    if (!isMeant) release(core, live);
  }
  return isMeant ? { live, waitedAt } : undefined;
}

async function mayAnswer(core: Core, live: Live, message: Message): Promise<boolean> {
  const question = await questionOf(core, live);
  const choices = question === undefined ? [] : getChoicesFromMessage(question);
  return choices.length === 0 || choiceIn(message, choices) !== undefined;
}
