import type { CallContext, ContextId, Ids, Message, Metadata, Mutable, Seq, Task } from '#protocol';
import { A2AError, contextId as asContextId, taskId as asTaskId, isTerminal, NO_EVENT, seqAfter, withoutNotes } from '#protocol';
import type { OwnCells } from '../cells/own-cells.ts';
import { ANY_CELL } from '../cells/own-cells.ts';
import { ElsewhereError } from '../cells.ts';
import type { Commits } from '../commit/group-commit.ts';
import type { EngineClock } from '../engine-clock.ts';
import type { EngineLifecycle } from '../lifecycle.ts';
import type { PreparedPush, PushConfigParts } from '../outbox/push-configs.ts';
import { prepareInlinePush, writesFor } from '../outbox/push-configs.ts';
import type { ContextFilter, MaybePromise, SendRecord, TaskKey, TaskRow } from '../ports.ts';
import type { EntryNotes } from '../tasks/events.ts';
import type { AcceptedMessage, LiveTask } from '../tasks/live-task.ts';
import type { Timers } from '../timers.ts';
import type { TurnInput } from '../turns/agent-run.ts';
import { checkInput, checkOutput, modesOf } from '../turns/modes.ts';
import type { Turns } from '../turns/turns.ts';
import type { SendCall } from './call.ts';
import type { ContinuedTask, ContinueParts } from './continue.ts';
import { findContinued, isBusy, isStillWaiting, madeMeanwhile } from './continue.ts';
import { enterContext } from './own-context.ts';

/** What accepting a message needs of the engine. */
export interface AdmitParts extends ContinueParts, PushConfigParts {
  readonly store: ContinueParts['store'] & PushConfigParts['store'];
  readonly turns: Turns;
  readonly commits: Commits;
  readonly clock: EngineClock;
  readonly ids: Ids;
  readonly lifecycle: EngineLifecycle;
  readonly nextKey: () => TaskKey;
  readonly timers: Timers;
}

/** How a repetition of the send is recognised. It is saved by the commit that saves the message. */
export type SendIdentity = Pick<SendRecord, 'owner' | 'agent' | 'token' | 'fingerprint'> & { readonly key: string };

/**
 * Puts a message into the log of the task that it continues, or of a new one. A2A 1.0.1 §3.4: a message continues the task it names, or
 * makes a new one in the context it names. `CallSemantics` add two ways: the caller's own name for the task, and the one waiting task of
 * the context.
 */
export function admit(parts: AdmitParts, call: SendCall, identity?: SendIdentity): MaybePromise<AcceptedMessage> {
  checkModes(call);
  const { message, configuration } = call.request;
  const entering = enterContext(parts.cells, call);
  if (entering !== undefined) return entering.then(() => admit(parts, call, identity));
  const lookup = findContinued(parts, call);
  if (lookup !== undefined || configuration?.taskPushNotificationConfig !== undefined) return admitLater(parts, call, { lookup, identity });
  checkOpen(parts);
  return create(parts, call, { contextId: message.contextId, identity, push: undefined });
}

interface Lookup {
  readonly lookup: Promise<ContinuedTask | undefined> | undefined;
  readonly identity: SendIdentity | undefined;
}

/** Accepts a message when the store answers asynchronously. */
async function admitLater(parts: AdmitParts, call: SendCall, { lookup, identity }: Lookup): Promise<AcceptedMessage> {
  const { message, configuration } = call.request;
  const config = configuration?.taskPushNotificationConfig;
  const continued = await lookup;
  const found = continued?.task;
  const waiting = new BusyWait(parts, call);
  try {
    const push = config === undefined ? undefined : await prepareInlinePush(parts, call, { config, task: found });
    if (found !== undefined && isTerminal(found.row.state) && isForThisTask(call)) return await refuse(found);
    for (let busy = busyTask(parts, call, found); busy !== undefined; busy = busyTask(parts, call, found)) await waiting.next(busy);
    // Another process has taken the name before the task was saved: the message goes to that one's task.
    if (found?.isWithdrawn === true) return await admit(parts, call, identity);
    // No await from here on: what is checked stays true until the message is in the log.
    checkOpen(parts);
    const task = madeMeanwhile(parts, call) ?? (isStillWaiting(continued) ? found : undefined);
    if (task !== undefined && call.ctx.semantics?.taskNames === 'once') checkContext(task, message);
    if (task === undefined || isTerminal(task.row.state)) {
      if (task !== undefined && isForThisTask(call)) return await refuse(task);
      const created = create(parts, call, { contextId: task?.row.contextId ?? message.contextId, identity, push, follows: task?.row.key });
      const { unread } = waiting;
      if (unread === undefined || unread !== task || identity !== undefined) return created;
      unread.hold();
      return { ...created, unread };
    }
    const accepted = resume(parts, task, { call, identity, push });
    task.hold();
    return accepted;
  } finally {
    waiting.stop();
    found?.release();
  }
}

/**
 * Waits for runs that work for the message's name, for at most `sendMsMax`. `unread` is the last task that it waited for, if no other call waits
 * for its answer: the caller that sent its message has left, and reads the answer with the next message of that name.
 */
class BusyWait {
  unread: LiveTask | undefined;
  #busy: LiveTask | undefined;
  #isLate = false;
  readonly #parts: AdmitParts;
  readonly #call: SendCall;
  #cancel: (() => void) | undefined;

  constructor(parts: AdmitParts, call: SendCall) {
    this.#parts = parts;
    this.#call = call;
  }

  /** Not async: a message must look again in the same moment as the others that wait. */
  next(busy: LiveTask): Promise<void> {
    const ms = this.#call.ctx.semantics?.sendMsMax;
    if (this.#isLate)
      throw new A2AError('UNAVAILABLE', 'the agent still works on an earlier message; send this one again later', { retryAfterMs: 1000 });
    this.#busy = busy;
    this.unread = ms === undefined || busy.senders.length > 0 ? undefined : busy;
    if (ms !== undefined) this.#cancel ??= this.#parts.timers.later(ms, () => this.#end());
    return nextCommit(this.#parts, this.#call, busy);
  }

  #end(): void {
    this.#isLate = true;
    this.#busy?.wake();
  }

  stop(): void {
    this.#cancel?.();
  }
}

/** The task of the message's name, while a run works on it. Messages under one name are dealt with one after the other. */
function busyTask(parts: AdmitParts, call: SendCall, found: LiveTask | undefined): LiveTask | undefined {
  const task = madeMeanwhile(parts, call) ?? found;
  return task !== undefined && isBusy(call, task) ? task : undefined;
}

function nextCommit(parts: AdmitParts, { ctx }: SendCall, task: LiveTask): Promise<void> {
  task.checkHere();
  checkOpen(parts);
  if (ctx.signal.aborted) throw new A2AError('UNAVAILABLE', 'the caller has disconnected');
  return task.nextCommit(ctx.signal);
}

function checkModes({ request, facts }: SendCall): void {
  checkInput(facts.accepts, request.message);
  const accepted = request.configuration?.acceptedOutputModes ?? [];
  if (accepted.length > 0) checkOutput(facts.produces, modesOf(accepted));
}

/** The message is for exactly this task. A reusable name is for the next task of that name too. */
function isForThisTask({ request, ctx }: SendCall): boolean {
  return request.message.taskId !== undefined || ctx.semantics?.taskNames === 'once';
}

function checkContext({ row }: LiveTask, { contextId }: Message): void {
  if (contextId === undefined || contextId === row.contextId) return;
  throw new A2AError('INVALID_PARAMS', 'message.contextId is not the context of the task', { field: 'message.contextId' });
}

/** The caller learns that the task is finished when that is durable, not before. */
async function refuse(task: LiveTask): Promise<never> {
  const { row } = task;
  await task.durable(row.last);
  throw new A2AError('TASK_FINISHED', `task ${row.alias ?? row.id} is finished and accepts no further message`);
}

function checkOpen({ lifecycle, commits, cells }: AdmitParts): void {
  if (lifecycle.phase !== 'open') {
    if (cells !== undefined && (lifecycle.phase === 'closed' || lifecycle.phase === 'off')) throw new ElsewhereError(ANY_CELL);
    const why = lifecycle.phase === 'cut off' ? 'the database can’t be used at the moment' : 'the server is starting or stopping';
    throw new A2AError('UNAVAILABLE', why, { retryAfterMs: 1000 });
  }
  // Another process may still reach the store.
  if (commits.isStalled) cells?.checkAny();
  commits.check();
}

interface Creation {
  readonly contextId: ContextId | undefined;
  readonly identity: SendIdentity | undefined;
  readonly push: PreparedPush | undefined;
  /** The task that has the message's name now. */
  readonly follows?: TaskKey | undefined;
}

/** Creates a task for a message and starts its first turn. */
function create(parts: AdmitParts, call: SendCall, { contextId: given, identity, push, follows }: Creation): AcceptedMessage {
  const { turns, tasks, ids, clock, cells } = parts;
  const { request, ctx, facts, owner } = call;
  turns.checkNew(owner);
  const id = asTaskId(ids.next());
  const contextId = given ?? asContextId(cells === undefined ? ids.next() : cells.idHere(ids.next(), besideOf(parts, ctx)));
  if (cells !== undefined && given !== undefined) checkHere(cells, { owner, agent: facts.agent, contextId });
  const message: Message = { ...request.message, taskId: id, contextId };
  const now = clock.now();
  const state = turns.hasFreeSlot ? 'TASK_STATE_WORKING' : 'TASK_STATE_SUBMITTED';
  const row: Mutable<TaskRow> = {
    key: parts.nextKey(),
    id,
    owner,
    agent: facts.agent,
    contextId,
    dialect: ctx.dialect,
    state,
    statusAt: now.ms,
    last: NO_EVENT,
    turn: seqAfter(NO_EVENT),
    attempt: 0,
    bytes: 0,
  };
  if (request.alias !== undefined) row.alias = request.alias;
  const first: Mutable<Task> = { id, contextId, status: { state, timestamp: now.iso }, history: [message] };
  const metadata = metadataOf(call);
  if (metadata !== undefined) first.metadata = metadata;
  const task = tasks.create(row, follows);
  if (call.ctx.semantics?.tasksOnly === true) task.announce();
  const { seq } = task.append({ task: first }, notesOf(call));
  tasks.add(task);
  saveBeside(parts, task, { call, identity, push, seq });
  turns.start(task, inputOf(call, seq, message));
  return { task, seq };
}

function besideOf({ tasks }: AdmitParts, { beside }: CallContext): ContextFilter | undefined {
  return beside === undefined ? undefined : tasks.get(beside)?.row;
}

/** Another process may have got the cell meanwhile. */
function checkHere(cells: OwnCells, place: ContextFilter): void {
  if (!cells.isHere(place)) throw new ElsewhereError(cells.cellOf(place));
}

/** The caller's metadata and ours. Callers can't set ours (`withoutNotes`). */
function metadataOf({ request, ctx }: SendCall): Metadata | undefined {
  const said = request.metadata === undefined ? undefined : withoutNotes(request.metadata);
  return ctx.notes === undefined ? said : { ...said, ...ctx.notes };
}

interface Resumption {
  readonly call: SendCall;
  readonly identity: SendIdentity | undefined;
  readonly push: PreparedPush | undefined;
}

/** Continues a task. Throws if it has moved on since the caller saw it. */
function resume(parts: AdmitParts, task: LiveTask, { call, identity, push }: Resumption): AcceptedMessage {
  const { row } = task;
  task.checkHere();
  if (parts.cells !== undefined) checkHere(parts.cells, row);
  const wanted = call.request.configuration?.ifGenerationMatch;
  if (wanted !== undefined && wanted !== row.last) {
    throw new A2AError('TASK_GENERATION_MISMATCH', `task ${row.id} is at generation ${row.last}, not ${wanted}`);
  }
  const message: Message = { ...call.request.message, taskId: row.id, contextId: row.contextId };
  return parts.turns.deliver(task, {
    message,
    notes: notesOf(call),
    inputAt: (seq) => inputOf(call, seq, message),
    onAppended: (seq) => saveBeside(parts, task, { call, identity, push, seq }),
  });
}

interface Beside {
  readonly call: SendCall;
  readonly identity: SendIdentity | undefined;
  readonly push: PreparedPush | undefined;
  readonly seq: Seq;
}

/** The commit that saves the message also saves the record of the send, its push config and the address for its replies. */
function saveBeside(parts: AdmitParts, task: LiveTask, { call, identity, push, seq }: Beside): void {
  const { reply: to, dialect } = call.ctx;
  if (to !== undefined) task.writeBeside(...parts.outbox.openReply(task.row, { to, dialect }, seq));
  if (push !== undefined) task.writeBeside(...writesFor(parts, task, { push, after: seq }));
  if (identity === undefined) return;
  const { owner, agent, token, fingerprint, key } = identity;
  const at = { key: task.row.key, id: task.row.id, seq };
  task.recordSend({ owner, agent, token, fingerprint, at: parts.clock.now().ms, delivered: false, task: at }, key);
}

function inputOf(call: SendCall, seq: Seq, message: Message): TurnInput {
  const { principal, trace, request } = call.ctx;
  const input: Mutable<TurnInput> = { seq, message, modes: call.request.configuration?.acceptedOutputModes ?? [], principal };
  if (trace !== undefined) input.trace = trace;
  if (request !== undefined) input.requestId = request.id;
  if ((call.ctx.idempotencyKey ?? '') !== '') input.isKeyed = true;
  return input;
}

function notesOf({ request }: SendCall): EntryNotes | undefined {
  const modes = request.configuration?.acceptedOutputModes ?? [];
  return modes.length === 0 ? undefined : { modes };
}
