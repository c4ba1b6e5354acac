import type { Agent, AgentOutput, TaskEvent, Turn } from '#protocol';
import { isInterrupted, isTerminal } from '#protocol';
import { spill } from '../read/blobs.ts';
import { sightOf } from '../read/fold.ts';
import type { Past } from '../read/replay.ts';
import { readPast } from '../read/replay.ts';
import type { Core } from '../tasks/core.ts';
import { agentOf, append, dropIfIdle } from '../tasks/core.ts';
import { mayTakeBack, takeBack } from '../tasks/direct-message.ts';
import type { Input, Live, Run } from '../tasks/live-task.ts';
import { isQueued, nextCommit } from '../tasks/live-task.ts';
import type { Lease } from './conversations.ts';
import { modesOf } from './modes.ts';
import type { Making } from './outputs.ts';
import { effectOf, startMaking, statusEvent } from './outputs.ts';
import { failRun } from './stop.ts';
import { makeTurn } from './turn.ts';

/** A turn: one message, one run of the agent. It outlives the request that brought the message. */
export type TurnStart =
  | { readonly input: Input; readonly queue?: readonly Input[] }
  /** The turn that was cut off, once more. `delayMs` leaves time for others if this one is what kills the process. */
  | { readonly again: true; readonly delayMs?: number };

export function startTurn(core: Core, live: Live, start: TurnStart): void {
  const { row } = live;
  const run = newRun(core, 'again' in start ? [] : (start.queue ?? []));
  live.run = run;
  core.runs.set(run, live);
  core.quotas.add(live, run);
  if ('input' in start) {
    row.turn = start.input.seq;
    row.attempt = 0;
  }
  let isLate = 'again' in start;
  const begin = (): void => {
    run.hasPlace = true;
    run.callOff = undefined;
    run.startedAt = core.ticks();
    run.seenAt = run.startedAt;
    row.attempt += 1;
    run.done = drive(core, live, run, { start, isLate });
  };
  const queue = (): void => {
    run.callOff = () => core.slots.leave(begin);
    // Whoever waits for a place is late: its message is durable, and that must not look as if it had been begun.
    isLate = !core.slots.take(begin) || isLate;
  };
  if ('again' in start && start.delayMs !== undefined) run.callOff = core.timers.later(start.delayMs, queue);
  else queue();
  core.writer.touch(live);
}

function newRun(core: Core, queue: readonly Input[]): Run {
  const now = core.ticks();
  return {
    abort: undefined,
    why: undefined,
    queue: [...queue],
    startedAt: now,
    seenLast: 0 as Run['seenLast'],
    seenAt: now,
    answer: undefined,
    askedAt: now,
    stoppedAt: undefined,
    hasPlace: false,
    isOver: false,
    callOff: undefined,
    done: Promise.resolve(),
  };
}

interface Driving {
  readonly start: TurnStart;
  /** The attempt is counted on disk before the agent is started: a crash must not make it start again unnoticed. */
  readonly isLate: boolean;
}

/** Never rejects. */
async function drive(core: Core, live: Live, run: Run, driving: Driving): Promise<void> {
  let lease: Lease | undefined;
  try {
    if (live.row.state !== 'TASK_STATE_WORKING') append(core, live, statusEvent(core, live, 'TASK_STATE_WORKING'));
    core.writer.touch(live);
    if (driving.isLate) await core.writer.settled('run');
    if (live.run !== run) return;
    const agent = agentOf(core, live.row.agent);
    if (agent.open !== undefined) lease = await core.contexts.use(live.row, agent);
    const past = 'input' in driving.start ? freshTurn(driving.start.input) : await readPast(core, live);
    // Those that came since are in the log and in the queue.
    if (past.queued.length > 0) run.queue.unshift(...past.queued.filter(({ seq }) => !isQueued(live, seq)));
    const seen = sightOf(core, live);
    const sight = seen instanceof Promise ? await seen : seen;
    const turn = makeTurn(core, live, run, { past, sight, conversation: lease?.conversation });
    const making = makingOf(agent, turn);
    if (live.run === run) await listen(core, live, { run, making, outputs: outputsOf(core, live, { agent, turn }) });
  } catch (thrown) {
    failRun(core, live, run, thrown);
  } finally {
    lease?.release();
    finish(core, live, run);
  }
}

interface Beginning {
  readonly agent: Agent;
  readonly turn: Turn;
}

function outputsOf({ aroundRun }: Core, { row }: Live, { agent, turn }: Beginning): AsyncIterable<AgentOutput> {
  return aroundRun === undefined ? agent.run(turn) : aroundRun((given) => agent.run(given), turn, row.agent);
}

function freshTurn(input: Input): Past {
  return { input, queued: [], answers: [] };
}

function makingOf(agent: Agent, turn: Turn): Making {
  const accepted = turn.acceptedOutputModes.length === 0 ? undefined : modesOf(turn.acceptedOutputModes);
  return startMaking(accepted, turn.task.artifacts ?? [], agent.recovery === 'resume' && turn.attempt > 1);
}

interface Listening {
  readonly run: Run;
  readonly making: Making;
  readonly outputs: AsyncIterable<AgentOutput>;
}

/** Until the run has said its last word, or nobody listens any more. It need not wait for the disk but within its window. */
async function listen(core: Core, live: Live, { run, making, outputs }: Listening): Promise<void> {
  for await (const output of outputs) {
    if (live.run !== run) return;
    const isLast = apply(core, live, { run, making, output });
    if (isLast === true || (isLast !== false && (await isLast))) return;
    while (isWindowFull(core, live) && live.run === run) await nextCommit(live);
  }
  if (live.run === run) endQuietly(core, live, run);
}

function isWindowFull({ limits, writer }: Core, { pending, saving }: Live): boolean {
  const isFull =
    pending.entries.length + saving.entries.length >= limits.windowEvents || pending.bytes + saving.bytes >= limits.windowBytes;
  return isFull && writer.broken === undefined;
}

interface Step {
  readonly run: Run;
  readonly making: Making;
  readonly output: AgentOutput;
}

/** Returns whether the output was the run's last word. */
function apply(core: Core, live: Live, { run, making, output }: Step): boolean | Promise<boolean> {
  // It needed a credential and goes on: so it has it.
  if (live.row.state === 'TASK_STATE_AUTH_REQUIRED' && (output.kind === 'text' || output.kind === 'artifact' || output.kind === 'data')) {
    append(core, live, statusEvent(core, live, 'TASK_STATE_WORKING'));
  }
  const effect = effectOf(core, live, making, output);
  // The run needs no recovery from here on: that and its last word are in one commit.
  if (effect.ends) live.row.attempt = 0;
  if (effect.message !== undefined) {
    if (mayTakeBack(core, live)) takeBack(core, live, effect.message);
    else append(core, live, statusEvent(core, live, 'TASK_STATE_COMPLETED', { message: effect.message }));
  }
  for (const [at, event] of effect.events.entries()) {
    const spilling = event.artifactUpdate === undefined ? undefined : spill(core, live.row.key, event.artifactUpdate.artifact.parts);
    if (spilling !== undefined) return applySpilled(core, live, { run, spilling, event, rest: effect.events.slice(at + 1) });
    append(core, live, event);
  }
  run.isOver = effect.ends;
  return effect.ends;
}

interface Spilling {
  readonly run: Run;
  readonly spilling: NonNullable<ReturnType<typeof spill>>;
  readonly event: TaskEvent;
  readonly rest: readonly TaskEvent[];
}

async function applySpilled(core: Core, live: Live, { run, spilling, event, rest }: Spilling): Promise<boolean> {
  const { parts, spilled, bytes } = await spilling;
  const { artifactUpdate: update } = event;
  if (live.run !== run || update === undefined) return true;
  live.row.bytes += bytes;
  append(core, live, { artifactUpdate: { ...update, artifact: { ...update.artifact, parts } } }, { spilled });
  for (const later of rest) append(core, live, later);
  return false;
}

/** The agent has ended without a last word: the turn is done, and the task too unless it waits. If a message does, its turn is next. */
function endQuietly(core: Core, live: Live, run: Run): void {
  const isWaiting = isInterrupted(live.row.state);
  if (!isWaiting && run.queue.length > 0) return;
  live.row.attempt = 0;
  if (!isWaiting) append(core, live, statusEvent(core, live, 'TASK_STATE_COMPLETED'));
  core.writer.touch(live);
}

/** The next message that came while the run was under way is the next turn, unless the task is finished. Twice does no harm. */
export function finish(core: Core, live: Live, run: Run): void {
  core.runs.delete(run);
  core.quotas.remove(live, run);
  if (run.hasPlace) {
    run.hasPlace = false;
    core.slots.free();
  }
  if (live.run === run) {
    live.run = undefined;
    const next = run.queue.shift();
    if (next !== undefined && !isTerminal(live.row.state) && core.writer.broken === undefined) {
      if (core.phase === 'closed' || core.phase === 'off') leaveForLater(core, live, next);
      else startTurn(core, live, { input: next, queue: run.queue });
    }
  }
  dropIfIdle(core, live);
}

/** Recovery finds a turn that was never begun, and what is queued behind it. */
function leaveForLater(core: Core, live: Live, next: Input): void {
  live.row.turn = next.seq;
  live.row.attempt = 0;
  if (live.row.state !== 'TASK_STATE_WORKING') append(core, live, statusEvent(core, live, 'TASK_STATE_WORKING'));
  core.writer.touch(live);
}
