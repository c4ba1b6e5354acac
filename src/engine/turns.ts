import type { Agent, AgentOutput, Message, Turn } from '#protocol';
import { createAgentTextMessage, isA2AError, isTerminal } from '#protocol';
import type { Core } from './core.ts';
import { agentOf, append, dropIfIdle } from './core.ts';
import type { Live, Run } from './live.ts';
import type { Started } from './outputs.ts';
import { effectOf, statusEvent } from './outputs.ts';
import { foldTo } from './read.ts';

/** Why a run was stopped: becomes the task's last words. */
export type StopReason = 'canceled' | 'timed out' | 'silent' | 'shutdown';

/** A turn: one message, one run of the agent. It outlives the request that brought the message. */
export interface TurnStart {
  readonly message: Message;
  readonly acceptedOutputModes: readonly string[];
  readonly principal: Turn['principal'];
  /** Called with a direct message, if it may replace the task: nobody has heard of the task. Returns false otherwise. */
  readonly onMessage?: (message: Message) => boolean;
}

export function startTurn(core: Core, live: Live, start: TurnStart, queue: readonly Message[] = []): void {
  let finish: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const now = core.clock.now().getTime();
  const run: Run = { abort: new AbortController(), startedAt: now, heardAt: now, answer: undefined, queue: [...queue], done };
  live.run = run;
  live.row = { ...live.row, attempt: live.row.attempt + 1 };
  core.writer.touch(live);
  core.slots.take(() => {
    void drive(core, live, run, start)
      .catch((thrown: unknown) => core.report('a turn failed outside its agent', thrown))
      .finally(() => {
        core.slots.free();
        afterRun(core, live, run, start);
        finish();
      });
  });
}

async function drive(core: Core, live: Live, run: Run, start: TurnStart): Promise<void> {
  const agent = agentOf(core, live.row.agent);
  const started: Started = new Set();
  try {
    const turn = await makeTurn(core, live, run, start);
    for await (const output of agent.run(turn)) {
      if (live.run !== run || run.abort.signal.aborted) return;
      run.heardAt = core.clock.now().getTime();
      if (apply(core, live, output, started, start)) return;
      if (live.pending.length >= core.limits.windowEvents) await core.writer.settled();
    }
    if (live.run === run && !isTerminal(live.row.state)) append(core, live, statusEvent(core, live, 'TASK_STATE_COMPLETED'));
  } catch (thrown) {
    if (live.run === run) failRun(core, live, thrown);
  }
}

/** Returns whether the output was the turn's last. */
function apply(core: Core, live: Live, output: AgentOutput, started: Started, start: TurnStart): boolean {
  const effect = effectOf(core, live, output, started);
  if (effect.message !== undefined) {
    if (start.onMessage?.(effect.message) !== true) append(core, live, statusEvent(core, live, 'TASK_STATE_COMPLETED', effect.message));
    return true;
  }
  for (const event of effect.events) append(core, live, event);
  return effect.ends;
}

async function makeTurn(core: Core, live: Live, run: Run, start: TurnStart): Promise<Turn> {
  const agent: Agent = agentOf(core, live.row.agent);
  const conversation = await core.contexts.get(agent, live.row.agent, live.row.contextId);
  const isFirst = live.row.last <= 1;
  const first = live.pending[0]?.event.task ?? live.tail[0]?.event.task;
  const task = isFirst && first !== undefined ? first : await foldTo(core.store, live, live.committed);
  return {
    message: start.message,
    task,
    contextId: live.row.contextId,
    history: task.history ?? [],
    principal: start.principal,
    conversation,
    acceptedOutputModes: start.acceptedOutputModes,
    attempt: live.row.attempt,
    signal: run.abort.signal,
    ask: (question) => ask(core, live, run, question),
  };
}

/** The task waits as input-required while the run stays alive; the next message to the task is the answer. */
function ask(core: Core, live: Live, run: Run, question: Message): Promise<Message> {
  append(core, live, statusEvent(core, live, 'TASK_STATE_INPUT_REQUIRED', question));
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(run.abort.signal.reason);
    run.abort.signal.addEventListener('abort', stop, { once: true });
    run.answer = (message) => {
      run.answer = undefined;
      run.abort.signal.removeEventListener('abort', stop);
      resolve(message);
    };
  });
}

/** Throws become `failed`. What an agent says with an A2AError is meant for the peer; anything else stays in the log. */
function failRun(core: Core, live: Live, thrown: unknown): void {
  core.report(`agent ${live.row.agent} failed`, thrown);
  if (isTerminal(live.row.state)) return;
  const reason = isA2AError(thrown) && thrown.kind !== 'INTERNAL_ERROR' ? thrown.message : 'The agent failed unexpectedly.';
  append(core, live, statusEvent(core, live, 'TASK_STATE_FAILED', createAgentTextMessage(reason)));
}

const LAST_WORDS: Readonly<Record<StopReason, { readonly state: 'TASK_STATE_CANCELED' | 'TASK_STATE_FAILED'; readonly text: string }>> = {
  canceled: { state: 'TASK_STATE_CANCELED', text: 'The task was canceled.' },
  'timed out': { state: 'TASK_STATE_FAILED', text: 'The agent took too long.' },
  silent: { state: 'TASK_STATE_FAILED', text: 'The agent was silent for too long.' },
  shutdown: { state: 'TASK_STATE_FAILED', text: 'The server was shut down while the agent was working.' },
};

/**
 * Stops a run and ends its task at once: the agent is told by its signal, but nobody waits for it to listen. The terminal state
 * is appended first, so exactly one of a cancel and a completion wins, and what the agent still says is dropped.
 */
export function stopRun(core: Core, live: Live, reason: StopReason): void {
  const { run } = live;
  const { state, text } = LAST_WORDS[reason];
  append(core, live, statusEvent(core, live, state, createAgentTextMessage(text)));
  if (run === undefined) return;
  live.run = undefined;
  run.abort.abort(new DOMException(text, 'AbortError'));
  dropIfIdle(core, live);
}

/** The next message that came while the run was under way is the next turn, unless the task is finished. */
function afterRun(core: Core, live: Live, run: Run, start: TurnStart): void {
  if (live.run !== run) return;
  live.run = undefined;
  live.row = { ...live.row, attempt: 0 };
  core.writer.touch(live);
  const next = run.queue.shift();
  if (next !== undefined && !isTerminal(live.row.state)) {
    startTurn(core, live, { ...start, message: next }, run.queue);
  }
}
