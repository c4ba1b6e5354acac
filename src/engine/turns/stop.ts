import type { Ids, Message } from '#protocol';
import { createAgentTextMessage, isA2AError, isTerminal, LET_GO, LOCAL_PRINCIPAL, messageId } from '#protocol';
import { reported } from '../report.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { AgentRun } from './agent-run.ts';
import { abortRun } from './agent-run.ts';
import type { StopParts } from './parts.ts';

/** Why the engine ended a task. It decides the last status message. */
export type StopReason =
  | 'canceled'
  | 'timed out'
  | 'silent'
  | 'unanswered'
  | 'shutdown'
  | 'interrupted'
  | 'cut off'
  | 'lost'
  | 'given up'
  | 'orphaned';

const LAST_MESSAGE: Readonly<Record<StopReason, string>> = {
  canceled: 'The task was canceled.',
  'timed out': 'The agent took too long.',
  silent: 'The agent was silent for too long.',
  unanswered: 'The question was not answered in time.',
  shutdown: 'The server was shut down while the agent was working.',
  interrupted: 'The server stopped while the agent was working, and this agent does not repeat interrupted work.',
  'cut off': 'The server lost its database while the agent was working, and this agent does not repeat interrupted work.',
  lost: 'The server stopped while the agent waited for an answer, and the agent can not continue.',
  'given up': 'The server stopped each time the agent worked on this task; it will not be tried again.',
  orphaned: 'The agent no longer exists on this server.',
};

/** A message in the engine's own name. */
export function engineMessage(ids: Ids, text: string): Message {
  return createAgentTextMessage(text, { messageId: messageId(ids.next()) });
}

/**
 * Stops the run and ends the task at once. The agent gets the abort signal, but nobody waits for it. The terminal state is appended first:
 * of a cancel and a completion exactly one wins, and later output of the agent is dropped.
 */
export function stopTask(parts: StopParts, task: LiveTask, reason: StopReason): void {
  const state = reason === 'canceled' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_FAILED';
  task.setAttempt(0);
  task.appendStatus(state, { message: engineMessage(parts.ids, LAST_MESSAGE[reason]) });
  detachRun(parts, task, LAST_MESSAGE[reason]);
}

/** Aborts the run and ignores its further output. The task stays as it is, for recovery or for the message that starts it again. */
export function detachRun({ clock, runs, quotas }: StopParts, task: LiveTask, why: string): void {
  const { run } = task;
  if (run === undefined) return;
  task.setRun(undefined);
  run.stoppedAt = clock.ticks();
  if (run.cancelStart !== undefined) {
    run.cancelStart();
    runs.delete(run);
    quotas.remove(task, run);
  }
  abortRun(run, why);
  task.dropIfIdle();
}

/**
 * Leaves a run to recovery, which repeats it if its agent allows that. The end is not the run's fault,
 * so earlier attempts do not count against it.
 */
export function letGo(parts: StopParts, task: LiveTask): void {
  task.setAttempt(Math.min(task.row.attempt, 1));
  task.touch();
  detachRun(parts, task, LET_GO);
}

const UNEXPECTED = 'The agent failed unexpectedly.';

/** The error and the first line of its stack that is not of a package or of Node. */
function causeText(thrown: unknown): string {
  const error = thrown instanceof Error ? thrown : undefined;
  const lines = (error?.stack ?? '').split('\n').map((line) => line.trim());
  const place = lines.find((line) => line.startsWith('at ') && !line.includes('node:') && !line.includes('node_modules'));
  const said = error === undefined ? String(thrown) : `${error.name}: ${error.message}`;
  return `The agent failed: ${said}${place === undefined ? '' : `, ${place}`}. Only callers on this machine see the cause.`;
}

/** An agent that throws fails its task. The message of an A2AError is for the caller; any other error is only reported. */
export function failRun(
  { commits, report, ids, tellCauses }: StopParts,
  task: LiveTask,
  { run, thrown }: { run: AgentRun; thrown: unknown },
): void {
  // A stopped run usually throws because it was stopped.
  if (task.run !== run || commits.broken !== undefined) return;
  report(`agent ${task.row.agent} failed`, thrown, reported(task));
  if (run.isOver || isTerminal(task.row.state)) return;
  const isForCaller = isA2AError(thrown) && thrown.kind !== 'INTERNAL_ERROR';
  const isDeveloper = tellCauses && task.row.owner.principal === LOCAL_PRINCIPAL.id;
  const reason = isForCaller ? thrown.message : isDeveloper ? causeText(thrown) : UNEXPECTED;
  run.isOver = true;
  task.setAttempt(0);
  task.appendStatus('TASK_STATE_FAILED', { message: engineMessage(ids, reason) });
}
