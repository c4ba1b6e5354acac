import type { A2AService, GetRequest, Task } from '#protocol';
import { A2AError, isTerminal } from '#protocol';
import { agentOf } from './agents.ts';
import type { ExtendedCard } from './options.ts';
import type { PushServiceParts } from './outbox/push-configs.ts';
import { createPushService } from './outbox/push-configs.ts';
import { readConversation } from './read/conversation.ts';
import type { TaskRequest } from './read/find.ts';
import { dialectOf, withTask, withTaskRead } from './read/find.ts';
import { foldTo, withHistory } from './read/fold.ts';
import type { ListParts } from './read/list.ts';
import { listTasks } from './read/list.ts';
import type { SubscribeParts } from './read/subscribe.ts';
import { subscribe } from './read/subscribe.ts';
import { nameFor, renameTask } from './read/task-names.ts';
import type { ReportFailure } from './report.ts';
import { factsOf } from './send/call.ts';
import type { SendParts } from './send/send.ts';
import { send, stream } from './send/send.ts';
import { ownerOf } from './tasks/keys.ts';
import type { LiveTask } from './tasks/live-task.ts';
import type { RetentionParts } from './tasks/retention.ts';
import { deleteNow } from './tasks/retention.ts';

/** What the service of one agent needs of the engine. */
export interface ServiceParts extends SendParts, ListParts, SubscribeParts, PushServiceParts {
  readonly store: SendParts['store'] & ListParts['store'] & SubscribeParts['store'] & PushServiceParts['store'];
  readonly commits: SendParts['commits'];
  readonly limits: SendParts['limits'];
  readonly report: ReportFailure;
  readonly retention: RetentionParts;
}

/**
 * The engine as an A2AService, for one of its agents. It has A2A 1.0 semantics; `CallContext.semantics`
 * says where a call departs from them.
 */
export function createService(parts: ServiceParts, agent: string, extendedCard?: ExtendedCard): A2AService {
  const served = agentOf(parts.agents, agent);
  const { card } = served;
  const facts = factsOf(agent, served);
  return {
    send: (request, ctx) => send(parts, facts, { request, ctx }),
    stream: (request, ctx) => stream(parts, facts, { request, ctx }),
    get: (request, ctx) => get(parts, { agent, request, ctx }),
    list: (request, ctx) => listTasks(parts, { agent, request, ctx }),
    cancel: (request, ctx) => cancel(parts, { agent, request, ctx }),
    subscribe: (request, ctx) => subscribe(parts, { agent, request, ctx }),
    push: createPushService(parts, agent),
    ...(parts.outbox.replyPublisher === undefined ? {} : { keepsReplies: true as const }),
    extendedCard: async (_, ctx) => {
      if (card.capabilities.extendedAgentCard !== true) throw new A2AError('UNSUPPORTED_OPERATION', 'this agent has no extended card');
      if (extendedCard === undefined) throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
      return extendedCard(agent, ctx);
    },
    conversation: ({ contextId, tenant, ...range }, ctx) =>
      readConversation(parts, { owner: ownerOf(ctx, tenant === undefined ? {} : { tenant }), agent, contextId }, range),
    forget: (request, ctx) => forget(parts, { agent, request, ctx }),
    originOf: (task, ctx) => dialectOf(parts, { owner: ownerOf(ctx, {}), agent, id: task }),
  };
}

type GetCall = TaskRequest & { readonly request: GetRequest };

/** The task as it is on disk, with as much history as the caller wants. */
async function get(parts: ServiceParts, asked: GetCall): Promise<Task> {
  const { request, ctx } = asked;
  const find = request.currentGeneration === undefined ? withTaskRead : withTask;
  return find(parts, asked, async (task) => {
    if (request.currentGeneration !== undefined) await waitForNews(parts, task, asked);
    const folded = await foldTo(parts, task, task.committed);
    return renameTask(withHistory(folded, request.historyLength), nameFor(task.row, ctx.semantics));
  });
}

/**
 * 1.1 draft: holds the answer until the task is past the generation that the caller knows, or for
 * `pollMsMax`.
 */
async function waitForNews({ timers, limits, lifecycle, commits }: ServiceParts, task: LiveTask, { request, ctx }: GetCall): Promise<void> {
  const known = request.currentGeneration ?? 0;
  let isOverdue = false;
  const cancel = timers.later(limits.pollMsMax, () => {
    isOverdue = true;
    task.wake();
  });
  try {
    while (task.committed <= known && !isFinished(task) && !isOverdue && !ctx.signal.aborted && lifecycle.phase !== 'off') {
      task.checkHere();
      commits.check();
      await task.nextCommit(ctx.signal);
    }
  } finally {
    cancel();
  }
}

function isFinished({ row, committed }: LiveTask): boolean {
  return isTerminal(row.state) && committed >= row.last;
}

/** Ends the task, and answers when that is on disk. */
async function cancel(parts: ServiceParts, asked: TaskRequest): Promise<Task> {
  return withTask(parts, asked, async (task) => {
    const { row } = task;
    const before = row.state;
    const hasNoRun = !isTerminal(before) && task.run === undefined;
    if (!isTerminal(before)) parts.turns.stop(task, 'canceled');
    const at = row.last;
    await task.durable(at);
    // A2A 1.0.1 §3.3.1: canceling again is harmless. §3.1.5: other finished tasks are an error. In 0.3 both are errors.
    const isRepeated = before === 'TASK_STATE_CANCELED' && asked.ctx.semantics?.cancelsOnce !== true;
    if (isTerminal(before) && !isRepeated) {
      throw new A2AError('TASK_NOT_CANCELABLE', `task ${asked.request.id} is finished`);
    }
    const folded = await foldTo(parts, task, at);
    if (hasNoRun) tellAgent(parts, task, folded);
    return renameTask(folded, nameFor(row, asked.ctx.semantics));
  });
}

/** Deletes a task of the caller. Its readers are disconnected. */
async function forget(parts: ServiceParts, asked: TaskRequest): Promise<void> {
  const row = await withTask(parts, asked, async (task) => {
    if (!isTerminal(task.row.state)) parts.turns.stop(task, 'canceled');
    await parts.commits.settled('request', task.row);
    return { ...task.row };
  });
  await deleteNow(parts.retention, [row]);
}

/** Without a run there is no abort signal, so `canceled` tells the agent of the cancel. */
function tellAgent({ agents, report }: ServiceParts, { row }: LiveTask, task: Task): void {
  const told = agents.get(row.agent)?.canceled?.(task, { principal: row.owner.principal });
  told?.catch((thrown: unknown) => report(`agent ${row.agent} failed when told of a canceled task`, thrown, row));
}
