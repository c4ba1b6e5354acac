import type { Message } from './message.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/** What one message of the caller led to, in a task that may have several. */
export interface TaskTurn {
  readonly message: Message | undefined;
  readonly artifacts: readonly Artifact[];
  /** The status at the end of the turn. An earlier turn ended with the question that the next message answers. */
  readonly status: TaskStatus;
}

/** The turns of a task, oldest first. */
export function turnsOf({ history = [], artifacts = [], status }: Task): readonly TaskTurn[] {
  const asked = history.filter(({ role }) => role === 'ROLE_USER');
  const isNumbered = artifacts.map(({ artifactId }) => numberIn(artifactId)).some((turn) => turn > 1 && turn <= asked.length);
  if (asked.length === 0) return [{ message: undefined, artifacts, status }];
  return asked.map((message, at) => {
    const next = asked[at + 1];
    return {
      message,
      artifacts: artifacts.filter(({ artifactId }) => turnOf(artifactId, asked.length, isNumbered) === at + 1),
      status: next === undefined ? status : questionBefore(history, next),
    };
  });
}

/** The agent's message before a later message of the caller is the question that it answers. */
function questionBefore(history: readonly Message[], message: Message): TaskStatus {
  const before = history[history.indexOf(message) - 1];
  return { state: 'TASK_STATE_INPUT_REQUIRED', ...(before?.role === 'ROLE_AGENT' ? { message: before } : {}) };
}

/**
 * Agents name the answer of a later turn `response-2`. Everything else counts to the last turn, also the
 * `response` of an agent that waited for the answers to its questions and then went on.
 */
function turnOf(artifactId: string, turns: number, isNumbered: boolean): number {
  const turn = numberIn(artifactId);
  if (turn > 0 && turn <= turns) return turn;
  return isNumbered && FIRST_ANSWERS.has(artifactId) ? 1 : turns;
}

function numberIn(artifactId: string): number {
  return Number(/-(\d+)$/.exec(artifactId)?.[1] ?? 0);
}

const FIRST_ANSWERS: ReadonlySet<string> = new Set(['response', 'assistant-response']);
