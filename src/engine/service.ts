import type { A2AService, GetRequest, Task } from '#protocol';
import { A2AError, isTerminal } from '#protocol';
import type { ExtendedCard } from './options.ts';
import { createPushService } from './outbox/push-configs.ts';
import type { Asked } from './read/find.ts';
import { dialectOf, withTask } from './read/find.ts';
import { foldTo, withHistory } from './read/fold.ts';
import { listTasks } from './read/list.ts';
import { subscribe } from './read/subscribe.ts';
import { nameFor, renameTask } from './read/task-names.ts';
import type { Served } from './send/call.ts';
import { send, stream } from './send/send.ts';
import type { Core } from './tasks/core.ts';
import { agentOf, ownerOf } from './tasks/core.ts';
import type { Live } from './tasks/live-task.ts';
import { isAtRest, nextCommit, wakeAll } from './tasks/live-task.ts';
import { inputModes, modesOf, outputModes } from './turns/modes.ts';
import { stopTask } from './turns/stop.ts';

/** The engine as an A2AService, for one of its agents. */
export function createService(core: Core, agent: string, extendedCard?: ExtendedCard): A2AService {
  const { card, repeats, checksInputModes } = agentOf(core, agent);
  const served: Served = {
    agent,
    takes: checksInputModes === true ? modesOf([]) : inputModes(card),
    makes: outputModes(card),
    repeatsAnew: repeats === 'anew',
  };
  return {
    send: (request, ctx) => send(core, served, { request, ctx }),
    stream: (request, ctx) => stream(core, served, { request, ctx }),
    get: (request, ctx) => get(core, { served, request, ctx }),
    list: (request, ctx) => listTasks(core, served, { request, ctx }),
    cancel: (request, ctx) => cancel(core, { served, request, ctx }),
    subscribe: (request, ctx) => subscribe(core, { served, request, ctx }),
    push: createPushService(core, served),
    ...(core.outbox.carrier === undefined ? {} : { keepsReplies: true as const }),
    extendedCard: async (_, ctx) => {
      if (card.capabilities.extendedAgentCard !== true) throw new A2AError('UNSUPPORTED_OPERATION', 'this agent has no extended card');
      if (extendedCard === undefined) throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
      return extendedCard(agent, ctx);
    },
    originOf: (task, ctx) => dialectOf(core, { owner: ownerOf(ctx, {}), agent, id: task }),
  };
}

async function get(core: Core, asked: Asked & { readonly request: GetRequest }): Promise<Task> {
  const { request, ctx } = asked;
  return withTask(core, asked, async (live) => {
    if (request.currentGeneration !== undefined) await news(core, live, asked);
    const traits = core.traitsOf(ctx.dialect);
    const task = await foldTo(core, live, live.committed);
    return renameTask(withHistory(task, request.historyLength, traits.historyDefault), nameFor(live.row, traits));
  });
}

/** 1.1 draft: the answer is held until the task is past the generation that the caller knows, or for as long as is decent. */
async function news(core: Core, live: Live, { request, ctx }: Asked & { readonly request: GetRequest }): Promise<void> {
  const known = request.currentGeneration ?? 0;
  let isOverdue = false;
  const callOff = core.timers.later(core.limits.pollMsMax, () => {
    isOverdue = true;
    wakeAll(live);
  });
  try {
    while (live.committed <= known && !isAtRest(live) && !isOverdue && !ctx.signal.aborted && core.phase !== 'off') {
      core.writer.check();
      await nextCommit(live, ctx.signal);
    }
  } finally {
    callOff();
  }
}

async function cancel(core: Core, asked: Asked): Promise<Task> {
  return withTask(core, asked, async (live) => {
    const traits = core.traitsOf(asked.ctx.dialect);
    const { row } = live;
    const before = row.state;
    const isUnheard = !isTerminal(before) && live.run === undefined;
    if (!isTerminal(before)) stopTask(core, live, 'canceled');
    const at = row.last;
    while (live.committed < at) {
      core.writer.check();
      await nextCommit(live);
    }
    // A2A 1.0.1 §3.3.1 makes a repeat harmless; §3.1.5 refuses the other ends.
    if (isTerminal(before) && before !== 'TASK_STATE_CANCELED' && traits.cancelFinished === 'error') {
      throw new A2AError('TASK_NOT_CANCELABLE', `task ${asked.request.id} is finished`);
    }
    const task = await foldTo(core, live, at);
    if (isUnheard) tellCanceled(core, live, task);
    return renameTask(withHistory(task, undefined, traits.historyDefault), nameFor(row, traits));
  });
}

function tellCanceled(core: Core, { row }: Live, task: Task): void {
  const told = core.agents.get(row.agent)?.canceled?.(task, { principal: row.owner.principal });
  told?.catch((thrown: unknown) => core.report(`agent ${row.agent} could not be told of a canceled task`, thrown));
}
