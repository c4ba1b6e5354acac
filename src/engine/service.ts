import type { A2AService, AgentCard, CallContext, EventStream, GetRequest, Logged, Message, SendRequest, SendResult, Seq, Task, TaskEvent, TaskId } from '#protocol';
import { A2AError, eventKind, isInterrupted, isTerminal } from '#protocol';
import { admit, isSettled, ownerOf } from './admit.ts';
import type { Core } from './core.ts';
import { agentOf, hold, holdRow, release } from './core.ts';
import type { Live } from './live.ts';
import { nextCommit } from './live.ts';
import { listTasks } from './pages.ts';
import { createPushService } from './push.ts';
import { entriesAfter, foldTo, logged, withHistory } from './read.ts';
import { onceOnly } from './retries.ts';
import { stopRun } from './turns.ts';

/** The engine as an A2AService, for one of its agents. */
export function createService(core: Core, agent: string, extendedCard?: (ctx: CallContext) => Promise<AgentCard>): A2AService {
  return {
    send: (request, ctx) => onceOnly(core, request, ctx, agent, () => send(core, request, ctx, agent)),
    stream: (request, ctx) => stream(core, request, ctx, agent),
    get: (request, ctx) => get(core, request, ctx, agent),
    list: (request, ctx) => listTasks(core, request, ctx, agent),
    cancel: async (request, ctx) => withLive(core, request.id, ctx, agent, (live) => cancel(core, live, ctx)),
    subscribe: (request, ctx) => subscribe(core, request, ctx, agent),
    push: createPushService(core, agent),
    extendedCard: async (_, ctx) => {
      if (agentOf(core, agent).card.capabilities.extendedAgentCard !== true) throw new A2AError('UNSUPPORTED_OPERATION', 'this agent has no extended card');
      if (extendedCard === undefined) throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
      return extendedCard(ctx);
    },
    originOf: (task) => core.lives.get(task)?.row.dialect,
  };
}

async function send(core: Core, request: SendRequest, ctx: CallContext, agent: string): Promise<SendResult> {
  const traits = core.traitsOf(ctx.dialect);
  let direct: Message | undefined;
  const { live, seq } = await admit(core, request, ctx, agent, (message) => {
    if (live.announced) return false;
    direct = message;
    return true;
  });
  try {
    const returnsAtOnce = request.configuration?.returnImmediately ?? !traits.blockingDefault;
    if (returnsAtOnce) {
      live.announced = true;
      await core.writer.settled();
    } else {
      await until(core, live, ctx.signal, () => direct !== undefined || isSettled(live));
    }
    if (direct !== undefined) return { message: takeBack(core, live, direct) };
    live.announced = true;
    const task = await foldTo(core.store, live, Math.max(seq, live.committed) as Seq);
    return { task: asCaller(live, withHistory(task, request.configuration?.historyLength, 'all')) };
  } finally {
    release(core, live);
  }
}

/** Nobody has heard of the task: it goes, and the message is the answer. */
function takeBack(core: Core, live: Live, message: Message): Message {
  core.writer.add({ kind: 'forget', task: live.row.key });
  core.lives.delete(live.row.id);
  return { ...message, contextId: live.row.contextId };
}

async function until(core: Core, live: Live, signal: AbortSignal, isMet: () => boolean): Promise<void> {
  while (!(isMet() && live.committed >= live.row.last)) {
    if (signal.aborted) throw new A2AError('UNAVAILABLE', 'the caller has left');
    if (core.writer.broken !== undefined) throw new A2AError('UNAVAILABLE', 'the store has failed', { cause: core.writer.broken });
    await nextCommit(live, signal);
  }
}

async function* stream(core: Core, request: SendRequest, ctx: CallContext, agent: string): EventStream & AsyncGenerator<readonly Logged[]> {
  const traits = core.traitsOf(ctx.dialect);
  let direct: Message | undefined;
  const { live, seq } = await admit(core, request, ctx, agent, (message) => {
    if (live.announced || traits.directMessage === 'as-task') return false;
    direct = message;
    wake();
    return true;
  });
  let wake: () => void = () => {};
  try {
    // The first frame says whether this is a task or a message: the agent gets a moment to say its first word.
    if (live.isNew && traits.directMessage === 'allowed') {
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, core.limits.firstOutputMs);
        void firstEvent(live, seq, ctx.signal).then(resolve);
      });
    }
    if (direct !== undefined) {
      yield [{ event: { message: takeBack(core, live, direct) } }];
      return;
    }
    live.announced = true;
    await core.writer.settled();
    yield* follow(core, live, seq, ctx);
  } finally {
    release(core, live);
  }
}

async function firstEvent(live: Live, seq: Seq, signal: AbortSignal): Promise<void> {
  while (live.committed <= seq && !signal.aborted && live.run !== undefined) await nextCommit(live, signal);
}

async function* subscribe(core: Core, request: { readonly id: TaskId; readonly after?: Seq }, ctx: CallContext, agent: string): EventStream & AsyncGenerator<readonly Logged[]> {
  const live = await find(core, request.id, ctx, agent);
  try {
    const resumes = request.after !== undefined && request.after >= 1 && request.after <= live.committed;
    if (isTerminal(live.row.state) && !resumes && core.traitsOf(ctx.dialect).subscribeFinished === 'error') {
      throw new A2AError('UNSUPPORTED_OPERATION', `task ${request.id} is finished: there is nothing to wait for`);
    }
    live.announced = true;
    await core.writer.settled();
    yield* follow(core, live, resumes ? (request.after as Seq) : live.committed, ctx);
  } finally {
    release(core, live);
  }
}

/** A snapshot folded to `from`, then every later event, at the reader's speed, until the task or the stream ends. */
async function* follow(core: Core, live: Live, from: Seq, ctx: CallContext): AsyncGenerator<readonly Logged[]> {
  const traits = core.traitsOf(ctx.dialect);
  const snapshot = await foldTo(core.store, live, from);
  yield [{ seq: from, event: { task: asCaller(live, snapshot) } }];
  let after = from;
  while (!ctx.signal.aborted) {
    const entries = await entriesAfter(core.store, live, after);
    if (entries.length > 0) {
      after = entries.at(-1)?.seq ?? after;
      yield entries.map((entry) => ({ ...logged(entry), event: eventAsCaller(live, entry.event) }));
      continue;
    }
    if (core.writer.broken !== undefined) throw new A2AError('UNAVAILABLE', 'the store has failed', { cause: core.writer.broken });
    if (after >= live.row.last && endsStream(live, traits.closesOnInputRequired)) return;
    await nextCommit(live, ctx.signal);
  }
}

/** A2A 1.0.1 §3.1.2 closes at the end; at input-required by the dialect; auth-required stays open (§7.6.1). */
function endsStream(live: Live, closesOnInputRequired: boolean): boolean {
  return isTerminal(live.row.state) || (closesOnInputRequired && live.row.state === 'TASK_STATE_INPUT_REQUIRED' && isInterrupted(live.row.state));
}

function get(core: Core, request: GetRequest, ctx: CallContext, agent: string): Promise<Task> {
  return withLive(core, request.id, ctx, agent, async (live) => {
    live.announced = true;
    await core.writer.settled();
    const task = await foldTo(core.store, live, live.committed);
    return asCaller(live, withHistory(task, request.historyLength, core.traitsOf(ctx.dialect).historyDefault));
  });
}

async function cancel(core: Core, live: Live, ctx: CallContext): Promise<Task> {
  const { state } = live.row;
  // §3.3.1 makes a repeat harmless; §3.1.5 refuses the other ends.
  if (isTerminal(state) && state !== 'TASK_STATE_CANCELED' && core.traitsOf(ctx.dialect).cancelFinished === 'error') {
    throw new A2AError('TASK_NOT_CANCELABLE', `task ${live.row.alias ?? live.row.id} is finished`);
  }
  if (!isTerminal(state)) stopRun(core, live, 'canceled');
  await core.writer.settled();
  return asCaller(live, await foldTo(core.store, live, live.committed));
}

async function withLive<T>(core: Core, id: TaskId, ctx: CallContext, agent: string, use: (live: Live) => Promise<T>): Promise<T> {
  const live = await find(core, id, ctx, agent);
  try {
    return await use(live);
  } finally {
    release(core, live);
  }
}

/** By id; in dialects where callers name tasks, by their name first. */
async function find(core: Core, id: TaskId, ctx: CallContext, agent: string): Promise<Live> {
  const owner = ownerOf(ctx);
  if (core.traitsOf(ctx.dialect).callerNamesTask) {
    const row = await core.store.byAlias(owner, agent, id as never);
    if (row !== undefined) return holdRow(core, row);
  }
  const live = await hold(core, owner, id);
  if (live !== undefined && live.row.agent === agent) return live;
  if (live !== undefined) release(core, live);
  throw new A2AError('TASK_NOT_FOUND', undefined, { info: { taskId: id } });
}

/** Whoever named the task hears its own name for it. */
function asCaller(live: Live, task: Task): Task {
  return live.row.alias === undefined ? task : { ...task, id: live.row.alias as unknown as TaskId };
}

function eventAsCaller(live: Live, event: TaskEvent): TaskEvent {
  if (live.row.alias === undefined) return event;
  const taskId = live.row.alias as unknown as TaskId;
  switch (eventKind(event)) {
    case 'statusUpdate':
      return event.statusUpdate === undefined ? event : { statusUpdate: { ...event.statusUpdate, taskId } };
    case 'artifactUpdate':
      return event.artifactUpdate === undefined ? event : { artifactUpdate: { ...event.artifactUpdate, taskId } };
    case 'task':
      return event.task === undefined ? event : { task: { ...event.task, id: taskId } };
    case 'message':
      return event;
  }
}
