import { isA2AError, isTerminal } from '#protocol';
import type { Core } from '../tasks/core.ts';
import { append, dropIfIdle } from '../tasks/core.ts';
import type { Live, Run } from '../tasks/live-task.ts';
import { statusEvent, words } from './outputs.ts';

/** Why a task was ended from outside: becomes its last words. */
export type StopReason = 'canceled' | 'timed out' | 'silent' | 'unanswered' | 'shutdown' | 'interrupted' | 'lost' | 'given up' | 'orphaned';

const LAST_WORDS: Readonly<Record<StopReason, string>> = {
  canceled: 'The task was canceled.',
  'timed out': 'The agent took too long.',
  silent: 'The agent was silent for too long.',
  unanswered: 'Nobody answered for too long.',
  shutdown: 'The server was shut down while the agent was working.',
  interrupted: 'The server stopped while the agent was working, and this agent does not repeat what it began.',
  lost: 'The server stopped while this waited for an answer, and the agent can not go on with what it had begun.',
  'given up': 'The server stopped each time the agent worked on this; it will not be tried again.',
  orphaned: 'The agent is no longer here.',
};

/**
 * Stops a run and ends its task at once: the agent is told by its signal, but nobody waits for it to listen. The terminal state
 * is appended first, so exactly one of a cancel and a completion wins, and what the agent still says is dropped.
 */
export function stopTask(core: Core, live: Live, reason: StopReason): void {
  const state = reason === 'canceled' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_FAILED';
  live.row.attempt = 0;
  append(core, live, statusEvent(core, live, state, { message: words(core, LAST_WORDS[reason]) }));
  letGo(core, live, LAST_WORDS[reason]);
}

/** The run is told to end and is heard no more. Its task stays as it is: for recovery, or for the message that starts it again. */
export function letGo(core: Core, live: Live, why: string): void {
  const { run } = live;
  if (run === undefined) return;
  live.run = undefined;
  run.stoppedAt = core.ticks();
  if (run.callOff !== undefined) {
    run.callOff();
    core.runs.delete(run);
    core.quotas.remove(live, run);
  }
  run.why = new DOMException(why, 'AbortError');
  run.abort?.abort(run.why);
  dropIfIdle(core, live);
}

/** Throws become `failed`. What an agent says with an A2AError is meant for the peer; anything else stays in the log. */
export function failRun(core: Core, live: Live, run: Run, thrown: unknown): void {
  // A run that was stopped throws because of that; nobody is interested.
  if (live.run !== run || core.writer.broken !== undefined) return;
  core.report(`agent ${live.row.agent} failed`, thrown);
  if (run.isOver || isTerminal(live.row.state)) return;
  const reason = isA2AError(thrown) && thrown.kind !== 'INTERNAL_ERROR' ? thrown.message : 'The agent failed unexpectedly.';
  run.isOver = true;
  live.row.attempt = 0;
  append(core, live, statusEvent(core, live, 'TASK_STATE_FAILED', { message: words(core, reason) }));
}
