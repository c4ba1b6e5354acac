import type { Agent, AgentOutput, TaskEvent, Turn } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import { agentOf } from '../agents.ts';
import type { MaybePromise } from '../ports.ts';
import type { SpilledParts } from '../read/blobs.ts';
import { spillContent } from '../read/blobs.ts';
import { viewOf } from '../read/fold.ts';
import type { InterruptedTurn } from '../read/replay.ts';
import { readTurn } from '../read/replay.ts';
import type { CallOrigin } from '../report.ts';
import { answerDirectly, mayAnswerDirectly } from '../tasks/direct-message.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import { nextRoom } from '../tasks/room.ts';
import type { AgentRun, TurnInput } from './agent-run.ts';
import { freeSlot, newRun } from './agent-run.ts';
import type { ConversationLease } from './conversations.ts';
import { modesOf } from './modes.ts';
import type { RunOutputs } from './outputs.ts';
import { effectOf, startOutputs } from './outputs.ts';
import type { TurnParts } from './parts.ts';
import type { Restarts } from './restarts.ts';
import { failRun } from './stop.ts';
import { patiently, tryAgain } from './store-patience.ts';
import { makeTurn } from './turn.ts';

/** A turn is one message and one run of the agent. It outlives the request that brought the message. */
export type TurnStart =
  | { readonly input: TurnInput; readonly queue?: readonly TurnInput[] }
  /** Repeats the interrupted turn. `delayMs` lets other tasks run first, in case this turn is what crashes the process. */
  | { readonly again: true; readonly delayMs?: number; readonly alone?: AloneStart };

/** A turn that is started again when no other interrupted turn runs. */
export interface AloneStart {
  readonly restarts: Restarts;
  /** No turn at all runs beside it. */
  readonly isStrict: boolean;
}

/** Starts a turn, or queues it until there is a slot. Returns at once. */
export function startTurn(parts: TurnParts, task: LiveTask, start: TurnStart): void {
  const { clock, slots, runs, quotas, timers } = parts;
  const run = newRun(clock.ticks(), 'again' in start ? [] : (start.queue ?? []));
  task.setRun(run, 'input' in start ? originOf(start.input) : undefined);
  runs.set(run, task);
  quotas.add(task, run);
  if ('input' in start) task.beginTurn(start.input.seq);
  let isLate = 'again' in start || mustBeFirst(parts, task, start.input);
  const begin = (): void => {
    run.hasSlot = true;
    run.cancelStart = undefined;
    run.startedAt = clock.ticks();
    run.seenAt = run.startedAt;
    task.setAttempt(task.row.attempt + 1);
    run.done = runAgent(parts, task, run, { start, isLate });
  };
  const { delayMs = 0, alone } = 'again' in start ? start : {};
  const queue = (): void => {
    // Not assigned at once: V8 puts a function that is assigned to a member into the old generation, and with it everything that it refers to.
    const cancel = (): void => {
      slots.leave(begin);
      alone?.restarts.next();
    };
    run.cancelStart = cancel;
    // A queued run counts as not started until its attempt is on disk, even though its message already is.
    isLate = !slots.take(begin) || isLate;
  };
  if (alone !== undefined) {
    run.onFreed = alone.restarts.next;
    run.cancelStart = alone.restarts.add(alone.isStrict ? () => slots.takeAlone(begin) : queue, delayMs);
  } else if (delayMs > 0) run.cancelStart = timers.later(delayMs, queue);
  else queue();
  task.touch();
}

/** Where several processes write, another one may have taken the message's name. Such a run starts when the name is claimed. */
function mustBeFirst({ store, agents }: TurnParts, { row }: LiveTask, { isKeyed }: TurnInput): boolean {
  return store.claim !== undefined && (isKeyed === true || agentOf(agents, row.agent).recovery === 'fail');
}

/** Without the message, which may be large. */
function originOf({ trace, requestId }: TurnInput): CallOrigin | undefined {
  return trace === undefined && requestId === undefined ? undefined : { trace, requestId };
}

interface Beginning {
  readonly start: TurnStart;
  /** The attempt must be on disk before the agent starts: a crash must not repeat it unnoticed. */
  readonly isLate: boolean;
}

/** Never rejects. */
async function runAgent(parts: TurnParts, task: LiveTask, run: AgentRun, { start, isLate }: Beginning): Promise<void> {
  let lease: ConversationLease | undefined;
  try {
    if (task.row.state !== 'TASK_STATE_WORKING') task.appendStatus('TASK_STATE_WORKING');
    task.touch();
    if (isLate) await parts.commits.settled('run');
    if (task.run !== run) return;
    const agent = agentOf(parts.agents, task.row.agent);
    if (agent.open !== undefined) lease = await parts.conversations.use(task.row, agent);
    const past: InterruptedTurn =
      'input' in start
        ? { input: start.input, queued: [], answers: [] }
        : await patiently(parts, { task, run }, () => readTurn(parts, task));
    // Messages that arrived since are both in the log and in the queue.
    if (past.queued.length > 0) run.queue.unshift(...past.queued.filter(({ seq }) => !run.queue.some((each) => each.seq === seq)));
    const viewed = patiently(parts, { task, run }, () => viewOf(parts, task));
    const view = viewed instanceof Promise ? await viewed : viewed;
    const turn = makeTurn(parts, task, run, { past, view, opened: lease?.conversation });
    const outputs = outputsFor(agent, turn);
    if (task.run === run) await readOutputs(parts, task, { run, outputs, stream: streamOf(parts, task, { agent, turn }) });
  } catch (thrown) {
    failRun(parts, task, { run, thrown });
  } finally {
    lease?.release();
    parts.onRunEnd?.(task.row, parts.clock.ticks() - run.startedAt);
    endRun(parts, task, run);
  }
}

function streamOf(
  { aroundRun }: TurnParts,
  { row }: LiveTask,
  { agent, turn }: { readonly agent: Agent; readonly turn: Turn },
): AsyncIterable<AgentOutput> {
  return aroundRun === undefined ? agent.run(turn) : aroundRun((given) => agent.run(given), turn, row.agent);
}

function outputsFor(agent: Agent, turn: Turn): RunOutputs {
  const accepted = turn.acceptedOutputModes.length === 0 ? undefined : modesOf(turn.acceptedOutputModes);
  return startOutputs(accepted, turn.task.artifacts ?? [], agent.recovery === 'resume' && turn.attempt > 1);
}

interface OutputReading {
  readonly run: AgentRun;
  readonly outputs: RunOutputs;
  readonly stream: AsyncIterable<AgentOutput>;
}

/** After this many outputs a run looks whether its time is over. */
const LOOK_EVERY = 32;
/** After this time without a wait, a run lets other work of this process go first. */
const TURN_MS = 2;

/** Reads the agent's output until its last one, or until the run is stopped. The run waits for the disk only when its window is full. */
async function readOutputs(parts: TurnParts, task: LiveTask, { run, outputs, stream }: OutputReading): Promise<void> {
  const { clock, timers } = parts;
  let [count, turnEnd] = [0, clock.ticks() + TURN_MS];
  for await (const output of stream) {
    if (task.run !== run) return;
    const isLast = apply(parts, task, { run, outputs, output });
    if (isLast === true || (isLast !== false && (await isLast))) return;
    while (isWindowFull(parts, task) && task.run === run) await nextRoom(task);
    count += 1;
    if (count % LOOK_EVERY > 0 || clock.ticks() < turnEnd) continue;
    await new Promise<void>((resolve) => timers.soon(resolve));
    turnEnd = clock.ticks() + TURN_MS;
  }
  if (task.run === run) endWithoutStatus(task, run);
}

/** Without what a commit is writing now: while a store writes as much as a window holds, a run gathers as much again. */
function isWindowFull({ limits, commits }: TurnParts, { pending }: LiveTask): boolean {
  const isFull = pending.entries.length >= limits.windowEvents || pending.bytes >= limits.windowBytes;
  return isFull && commits.broken === undefined;
}

interface OutputStep {
  readonly run: AgentRun;
  readonly outputs: RunOutputs;
  readonly output: AgentOutput;
}

/** Returns whether the output was the run's last one. */
function apply(parts: TurnParts, task: LiveTask, { run, outputs, output }: OutputStep): boolean | Promise<boolean> {
  // Output after auth-required means that the credential has arrived.
  if (task.row.state === 'TASK_STATE_AUTH_REQUIRED' && (output.kind === 'text' || output.kind === 'artifact' || output.kind === 'data')) {
    task.appendStatus('TASK_STATE_WORKING');
  }
  const effect = effectOf(parts, task.row, outputs, output);
  // A run that has ended needs no recovery. This is written by the same commit as its last output.
  if (effect.ends) task.setAttempt(0);
  if (effect.message !== undefined) {
    if (mayAnswerDirectly(parts, task)) answerDirectly(parts, task, effect.message);
    else task.appendStatus('TASK_STATE_COMPLETED', { message: effect.message });
  }
  for (const [at, event] of effect.events.entries()) {
    const spilling =
      event.artifactUpdate === undefined ? undefined : spillContent(parts, task.row.key, event.artifactUpdate.artifact.parts);
    if (spilling !== undefined) return applySpilled(parts, task, { run, spilling, event, rest: effect.events.slice(at + 1) });
    task.append(event);
  }
  run.isOver = effect.ends;
  return effect.ends;
}

interface SpilledOutput {
  readonly run: AgentRun;
  readonly spilling: Promise<SpilledParts>;
  readonly event: TaskEvent;
  readonly rest: readonly TaskEvent[];
}

async function applySpilled(parts: TurnParts, task: LiveTask, { run, spilling, event, rest }: SpilledOutput): Promise<boolean> {
  const { artifactUpdate: update } = event;
  const again = (): MaybePromise<SpilledParts | undefined> =>
    update === undefined ? undefined : spillContent(parts, task.row.key, update.artifact.parts);
  const stored = await spilling.catch((thrown: unknown) => tryAgain(parts, { task, run }, { thrown, use: again }));
  if (task.run !== run || update === undefined || stored === undefined) return true;
  task.addBytes(stored.bytes);
  task.append({ artifactUpdate: { ...update, artifact: { ...update.artifact, parts: stored.parts } } }, { spilled: stored.spilled });
  for (const later of rest) task.append(later);
  return false;
}

/** The agent returned without a final status. The task is completed, unless it waits for its caller or another message is queued. */
function endWithoutStatus(task: LiveTask, run: AgentRun): void {
  const isWaiting = isInterrupted(task.row.state);
  if (!isWaiting && run.queue.length > 0) return;
  task.setAttempt(0);
  if (!isWaiting) task.appendStatus('TASK_STATE_COMPLETED');
  task.touch();
}

/** Starts the next queued message's turn, unless the task is finished. Calling it twice is harmless. */
export function endRun(parts: TurnParts, task: LiveTask, run: AgentRun): void {
  parts.runs.delete(run);
  parts.quotas.remove(task, run);
  freeSlot(parts.slots, run);
  if (task.run === run) {
    task.setRun(undefined);
    const next = run.queue.shift();
    if (next !== undefined && !isTerminal(task.row.state) && parts.commits.broken === undefined) {
      const { phase } = parts.lifecycle;
      if (phase !== 'open' && phase !== 'starting') leaveForRecovery(task, next);
      else startTurn(parts, task, { input: next, queue: run.queue });
    }
  }
  task.dropIfIdle();
}

/** Recovery finds a turn that was never started, and the messages queued behind it. */
function leaveForRecovery(task: LiveTask, next: TurnInput): void {
  task.beginTurn(next.seq);
  if (task.row.state !== 'TASK_STATE_WORKING') task.appendStatus('TASK_STATE_WORKING');
  task.touch();
}
