import type { CallContext, ContextId, Message, SendRequest, Seq, Task, TaskId, Traits } from '#protocol';
import { A2AError, contextId as asContextId, createTaskStatus, isInterrupted, isTerminal, taskId as asTaskId } from '#protocol';
import type { Core } from './core.ts';
import { append, hold, holdRow } from './core.ts';
import type { Live } from './live.ts';
import { newLive } from './live.ts';
import { statusEvent } from './outputs.ts';
import type { Owner, TaskRow } from './ports.ts';
import type { TurnStart } from './turns.ts';
import { startTurn } from './turns.ts';

/** Where a message went: the task, held, and the entry that took it in. */
export interface Admitted {
  readonly live: Live;
  readonly seq: Seq;
}

export function ownerOf(ctx: CallContext): Owner {
  return { tenant: ctx.tenant ?? '', principal: ctx.principal.id };
}

/**
 * A2A 1.0.1 §3.4: a message goes on with the task it names, or makes a new one in the context it names. The other ways in are
 * traits of a dialect: a caller's own name for the task (an alias), or the one waiting task of the context.
 */
export async function admit(core: Core, request: SendRequest, ctx: CallContext, agent: string, onMessage?: TurnStart['onMessage']): Promise<Admitted> {
  const traits = core.traitsOf(ctx.dialect);
  const found = await continued(core, request, ctx, agent, traits);
  const start: TurnStart = {
    message: request.message,
    acceptedOutputModes: request.configuration?.acceptedOutputModes ?? [],
    principal: ctx.principal,
    ...(onMessage === undefined ? {} : { onMessage }),
  };
  return 'live' in found ? resume(core, found.live, start) : create(core, { request, ctx, agent, ...found }, start);
}

type Continued = { readonly live: Live } | { readonly contextId: ContextId | undefined };

async function continued(core: Core, request: SendRequest, ctx: CallContext, agent: string, traits: Traits): Promise<Continued> {
  const owner = ownerOf(ctx);
  const { taskId, contextId } = request.message;
  if (taskId !== undefined) {
    const live = await hold(core, owner, taskId);
    if (live === undefined || live.row.agent !== agent) throw new A2AError('TASK_NOT_FOUND', undefined, { info: { taskId } });
    if (contextId !== undefined && contextId !== live.row.contextId) {
      live.holds -= 1;
      throw new A2AError('INVALID_PARAMS', 'message.contextId is not the context of the task', { field: 'message.contextId' });
    }
    return { live };
  }
  if (traits.callerNamesTask && request.alias !== undefined) {
    const row = await core.store.byAlias(owner, agent, request.alias);
    if (row === undefined) return { contextId };
    const live = holdRow(core, row);
    if (!isTerminal(live.row.state)) return { live };
    live.holds -= 1;
    return { contextId: live.row.contextId };
  }
  if (traits.resumesByContext && contextId !== undefined) {
    const waiting = await core.store.waiting(owner, agent, contextId, 2);
    if (waiting.length === 1 && waiting[0] !== undefined) return { live: holdRow(core, waiting[0]) };
  }
  return { contextId };
}

interface Creation {
  readonly request: SendRequest;
  readonly ctx: CallContext;
  readonly agent: string;
  readonly contextId: ContextId | undefined;
}

function create(core: Core, from: Creation, start: TurnStart): Admitted {
  const id: TaskId = asTaskId(core.ids.next());
  const contextId = from.contextId ?? asContextId(core.ids.next());
  const message: Message = { ...from.request.message, taskId: id, contextId };
  const now = core.clock.now();
  const row: TaskRow = {
    key: core.nextKey(),
    id,
    owner: ownerOf(from.ctx),
    agent: from.agent,
    contextId,
    dialect: from.ctx.dialect,
    ...(from.request.alias === undefined ? {} : { alias: from.request.alias }),
    state: 'TASK_STATE_SUBMITTED',
    statusAt: now.getTime(),
    last: 0 as Seq,
    attempt: 0,
    bytes: 0,
  };
  const live = newLive(row, true);
  live.holds = 1;
  const task: Task = { id, contextId, status: createTaskStatus('TASK_STATE_SUBMITTED', undefined, now), history: [message] };
  core.lives.set(id, live);
  const seq = append(core, live, { task: from.request.metadata === undefined ? task : { ...task, metadata: from.request.metadata } });
  startTurn(core, live, { ...start, message });
  return { live, seq };
}

/** Messages to one task are serialised: an answer to the run that asks, the next turn, or a place in its queue. */
function resume(core: Core, live: Live, start: TurnStart): Admitted {
  if (isTerminal(live.row.state)) {
    live.holds -= 1;
    throw new A2AError('TASK_FINISHED', `task ${live.row.alias ?? live.row.id} is finished and takes no further message`);
  }
  const message: Message = { ...start.message, taskId: live.row.id, contextId: live.row.contextId };
  const seq = append(core, live, statusEvent(core, live, 'TASK_STATE_WORKING'), message);
  const { run } = live;
  if (run === undefined) startTurn(core, live, { ...start, message });
  else if (run.answer !== undefined) run.answer(message);
  else run.queue.push(message);
  return { live, seq };
}

/** The caller need not wait any longer: the task is finished, or waits for somebody. */
export function isSettled(live: Live): boolean {
  return isTerminal(live.row.state) || (isInterrupted(live.row.state) && (live.run === undefined || live.run.answer !== undefined));
}
