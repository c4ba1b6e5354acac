import type { ContextId, Message, Metadata, Mutable, Seq, Task } from '#protocol';
import { A2AError, contextId as asContextId, taskId as asTaskId, isInterrupted, isTerminal, withoutNotes } from '#protocol';
import type { PreparedPush } from '../outbox/push-configs.ts';
import { inlinePush, prepareInlinePush } from '../outbox/push-configs.ts';
import type { MaybePromise, SendRecord, TaskRow } from '../ports.ts';
import type { Core, EntryNotes } from '../tasks/core.ts';
import { agentOf, append, release, scopedKey } from '../tasks/core.ts';
import type { Admitted, Input, Live } from '../tasks/live-task.ts';
import { gathering, newLive, nextCommit } from '../tasks/live-task.ts';
import { checkInput, checkOutput, modesOf } from '../turns/modes.ts';
import { statusEvent } from '../turns/outputs.ts';
import { startTurn } from '../turns/run.ts';
import type { Call } from './call.ts';
import type { Continued } from './continue.ts';
import { continued, isStillMeant, madeMeanwhile } from './continue.ts';
import { replyOf } from './reply.ts';

/** How the send is known, if it can be repeated: kept in the commit that takes the message in. */
export type Naming = Pick<SendRecord, 'owner' | 'agent' | 'token' | 'fingerprint'> & { readonly key: string };

/**
 * A2A 1.0.1 §3.4: a message goes on with the task it names, or makes a new one in the context it names. The other ways in are
 * traits of a dialect: a caller's own name for the task (an alias), or the one waiting task of the context.
 */
export function admit(core: Core, call: Call, naming?: Naming): MaybePromise<Admitted> {
  checkModes(call);
  const { message, configuration } = call.request;
  const looked = continued(core, call);
  if (looked !== undefined || configuration?.taskPushNotificationConfig !== undefined) return admitLater(core, call, { looked, naming });
  checkOpen(core);
  return create(core, call, { contextId: message.contextId, naming, push: undefined });
}

interface Looking {
  readonly looked: Promise<Continued | undefined> | undefined;
  readonly naming: Naming | undefined;
}

async function admitLater(core: Core, call: Call, { looked, naming }: Looking): Promise<Admitted> {
  const { message, configuration } = call.request;
  const config = configuration?.taskPushNotificationConfig;
  const continuing = await looked;
  const found = continuing?.live;
  try {
    const push = config === undefined ? undefined : await prepareInlinePush(core, call, { config, live: found });
    if (found !== undefined && isTerminal(found.row.state) && isForThisTask(call)) return await refuse(core, found);
    // From here on nothing is awaited: what is found to be so stays so until the message is in.
    checkOpen(core);
    const live = madeMeanwhile(core, call) ?? (isStillMeant(continuing) ? found : undefined);
    if (live !== undefined && call.traits.namesOnce === true) checkContext(live, message);
    if (live === undefined || isTerminal(live.row.state)) {
      if (live !== undefined && isForThisTask(call)) return await refuse(core, live);
      return create(core, call, { contextId: live?.row.contextId ?? message.contextId, naming, push });
    }
    const admitted = resume(core, live, { call, naming, push });
    live.holds += 1;
    return admitted;
  } finally {
    if (found !== undefined) release(core, found);
  }
}

function checkModes({ request, served }: Call): void {
  checkInput(served.takes, request.message);
  const accepted = request.configuration?.acceptedOutputModes ?? [];
  if (accepted.length > 0) checkOutput(served.makes, modesOf(accepted));
}

/** Not, as where a name goes on from task to task, for whatever comes next. */
function isForThisTask({ request, traits }: Call): boolean {
  return request.message.taskId !== undefined || traits.namesOnce === true;
}

function checkContext({ row }: Live, { contextId }: Message): void {
  if (contextId === undefined || contextId === row.contextId) return;
  throw new A2AError('INVALID_PARAMS', 'message.contextId is not the context of the task', { field: 'message.contextId' });
}

/** That a task is finished is told when it is durable, and not before. */
async function refuse(core: Core, live: Live): Promise<never> {
  const { row } = live;
  while (live.committed < row.last) {
    core.writer.check();
    await nextCommit(live);
  }
  throw new A2AError('TASK_FINISHED', `task ${row.alias ?? row.id} is finished and takes no further message`);
}

function checkOpen(core: Core): void {
  if (core.phase !== 'open') throw new A2AError('UNAVAILABLE', 'the server is starting or stopping', { retryAfterMs: 1000 });
  core.writer.check();
}

interface Creation {
  readonly contextId: ContextId | undefined;
  readonly naming: Naming | undefined;
  readonly push: PreparedPush | undefined;
}

function create(core: Core, call: Call, { contextId: given, naming, push }: Creation): Admitted {
  const { request, ctx, served, owner } = call;
  core.quotas.check(owner.principal);
  if (core.slots.isFull) throw new A2AError('UNAVAILABLE', 'too many tasks are waiting; try again later', { retryAfterMs: 1000 });
  const id = asTaskId(core.ids.next());
  const contextId = given ?? asContextId(core.ids.next());
  const message: Message = { ...request.message, taskId: id, contextId };
  const now = core.now();
  // It is at work from the start, unless it has to wait for its place.
  const state = core.slots.hasRoom ? 'TASK_STATE_WORKING' : 'TASK_STATE_SUBMITTED';
  const row: Mutable<TaskRow> = {
    key: core.nextKey(),
    id,
    owner,
    agent: served.agent,
    contextId,
    dialect: ctx.dialect,
    state,
    statusAt: now.ms,
    last: 0 as Seq,
    turn: 1 as Seq,
    attempt: 0,
    bytes: 0,
  };
  if (request.alias !== undefined) row.alias = request.alias;
  const live = newLive(row, true);
  live.holds = 1;
  const task: Mutable<Task> = { id, contextId, status: { state, timestamp: now.iso }, history: [message] };
  const metadata = metadataOf(call);
  if (metadata !== undefined) task.metadata = metadata;
  const { seq } = append(core, live, { task }, notesOf(call));
  core.lives.set(id, live);
  if (row.alias !== undefined) core.aliases.set(scopedKey(owner, served.agent, row.alias), live);
  takeNotes(core, live, { call, naming, push, seq });
  startTurn(core, live, { input: inputOf(call, seq, message) });
  return { live, seq };
}

/** What the caller says of it, and what we note: never one in the name of the other. */
function metadataOf({ request, ctx }: Call): Metadata | undefined {
  const said = withoutNotes(request.metadata);
  return ctx.notes === undefined ? said : { ...said, ...ctx.notes };
}

interface Resumption {
  readonly call: Call;
  readonly naming: Naming | undefined;
  readonly push: PreparedPush | undefined;
}

/** Messages to one task are serialised: an answer to the run that asks, the next turn, or a place in its queue. */
function resume(core: Core, live: Live, { call, naming, push }: Resumption): Admitted {
  const { row, run } = live;
  const wanted = call.request.configuration?.ifGenerationMatch;
  if (wanted !== undefined && wanted !== row.last) {
    throw new A2AError('TASK_GENERATION_MISMATCH', `task ${row.id} is at generation ${row.last}, not ${wanted}`);
  }
  const waits = run !== undefined && run.answer === undefined;
  checkRoom(core, live, waits);
  if (run === undefined) core.quotas.check(row.owner.principal);
  const message: Message = { ...call.request.message, taskId: row.id, contextId: row.contextId };
  const notes: EntryNotes = { ...notesOf(call), input: message, ...(waits ? { queued: true } : {}) };
  const wasAsking = isCutOff(core, live);
  const { seq } = append(core, live, statusEvent(core, live, 'TASK_STATE_WORKING'), notes);
  takeNotes(core, live, { call, naming, push, seq });
  const input = inputOf(call, seq, message);
  if (run === undefined) startTurn(core, live, wasAsking ? { again: true } : { input });
  else if (run.answer !== undefined) run.answer(message);
  else run.queue.push(input);
  return { live, seq };
}

function checkRoom(core: Core, { row, run }: Live, waits: boolean): void {
  const { limits, slots } = core;
  const isFull = waits ? (run?.queue.length ?? 0) >= limits.queuedMessagesMax : run === undefined && slots.isFull;
  if (isFull) throw new A2AError('UNAVAILABLE', 'too many messages are waiting; try again later', { retryAfterMs: 1000 });
  if (row.last >= limits.taskEventsMax || row.bytes >= limits.taskBytesMax) {
    throw new A2AError('UNSUPPORTED_OPERATION', `task ${row.alias ?? row.id} is full and takes no further message`);
  }
}

/** Its run was asking when it was cut off, and may be repeated: then this message is the answer, not a turn of its own. */
function isCutOff(core: Core, { row, run }: Live): boolean {
  return run === undefined && row.attempt > 0 && isInterrupted(row.state) && agentOf(core, row.agent).recovery !== 'fail';
}

interface Noting {
  readonly call: Call;
  readonly naming: Naming | undefined;
  readonly push: PreparedPush | undefined;
  readonly seq: Seq;
}

/** The record of the send, an inline push config and where the answer goes are in the commit that takes the message in, or nowhere. */
function takeNotes(core: Core, live: Live, { call, naming, push, seq }: Noting): void {
  const reply = replyOf(call);
  if (reply !== undefined) gathering(live).beside.push(...core.outbox.replying(live.row, reply, seq));
  if (push !== undefined) gathering(live).beside.push(...inlinePush(core, live, { push, after: seq }));
  if (naming === undefined) return;
  const { key, ...name } = naming;
  const task = { key: live.row.key, id: live.row.id, seq };
  const record: SendRecord = { ...name, at: core.now().ms, delivered: false, task };
  gathering(live).beside.push({ kind: 'send', record });
  gathering(live).reserved.push(key);
  if (seq === 1) live.record = record;
}

function inputOf(call: Call, seq: Seq, message: Message): Input {
  const { principal, trace } = call.ctx;
  const input = { seq, message, modes: modesIn(call), principal };
  return trace === undefined ? input : { ...input, trace };
}

function modesIn({ request }: Call): readonly string[] {
  return request.configuration?.acceptedOutputModes ?? [];
}

function notesOf(call: Call): EntryNotes | undefined {
  const modes = modesIn(call);
  return modes.length === 0 ? undefined : { modes };
}
