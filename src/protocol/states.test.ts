import { describe, expect, it } from 'vitest';
import type { TaskState } from './states.ts';
import { isInterrupted, isTerminal, mayFollow, TASK_STATES } from './states.ts';

const ALL = Object.keys(TASK_STATES) as TaskState[];
const TERMINAL: readonly TaskState[] = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'];
const WAITING: readonly TaskState[] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

describe('the task-state machine', () => {
  it('has the nine states of 1.0.1, four terminal and two waiting', () => {
    expect(ALL).toHaveLength(9);
    expect(ALL.filter(isTerminal).toSorted()).toEqual(TERMINAL.toSorted());
    expect(ALL.filter(isInterrupted).toSorted()).toEqual(WAITING.toSorted());
  });

  it('allows nothing after a terminal state, not even the same state', () => {
    for (const from of TERMINAL) for (const to of ALL) expect(mayFollow(from, to), `${from} to ${to}`).toBe(false);
  });

  it('allows every terminal state after every open state', () => {
    for (const from of ALL.filter((state) => !isTerminal(state))) {
      for (const to of TERMINAL) expect(mayFollow(from, to), `${from} to ${to}`).toBe(true);
    }
  });

  it('allows working and waiting in turn, and repeated states for progress', () => {
    for (const wait of WAITING) {
      expect(mayFollow('TASK_STATE_WORKING', wait)).toBe(true);
      expect(mayFollow(wait, 'TASK_STATE_WORKING')).toBe(true);
      expect(mayFollow(wait, wait)).toBe(true);
    }
    expect(mayFollow('TASK_STATE_WORKING', 'TASK_STATE_WORKING')).toBe(true);
    expect(mayFollow('TASK_STATE_SUBMITTED', 'TASK_STATE_SUBMITTED')).toBe(true);
  });

  it('never returns to submitted, and never changes to unspecified', () => {
    for (const from of ['TASK_STATE_WORKING', ...WAITING] as const) expect(mayFollow(from, 'TASK_STATE_SUBMITTED')).toBe(false);
    for (const from of ALL) expect(mayFollow(from, 'TASK_STATE_UNSPECIFIED')).toBe(false);
  });
});
