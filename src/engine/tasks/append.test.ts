import { describe, expect, it } from 'vitest';
import type { EngineLimits } from '#engine';
import type { TaskEvent, TaskState } from '#protocol';
import { artifactId, isTerminal, mayFollow, TASK_STATES } from '#protocol';
import { ALICE, rowOf, seqOf } from '../../../test/contracts/rows.ts';
import { fakeTime } from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';
import { createCommits } from '../commit/group-commit.ts';
import { createEngineClock } from '../engine-clock.ts';
import { DEFAULT_ENGINE_LIMITS } from '../limits.ts';
import { scopedKey } from './keys.ts';
import type { LiveTask } from './live-task.ts';
import { TaskInMemory } from './task-in-memory.ts';

const STATES = Object.keys(TASK_STATES) as TaskState[];

function taskIn(state: TaskState, limits: Partial<EngineLimits> = {}): LiveTask {
  const { clock, timers } = fakeTime();
  const commits = createCommits({ store: memoryStore(), timers, onBroken: () => {} });
  const parts = { limits: { ...DEFAULT_ENGINE_LIMITS, ...limits }, clock: createEngineClock(clock), commits };
  return new TaskInMemory(
    { ...parts, timers, onSaved: () => {}, onIdle: () => {}, onDropped: () => {} },
    rowOf(1, { state, last: seqOf(1) }),
    {
      isNew: false,
    },
  );
}

const status = (task: LiveTask, state: TaskState): TaskEvent => ({
  statusUpdate: { taskId: task.row.id, contextId: task.row.contextId, status: { state, timestamp: '2026-01-01T00:00:01.000Z' } },
});
const chunk = (task: LiveTask, text: string): TaskEvent => ({
  artifactUpdate: { taskId: task.row.id, contextId: task.row.contextId, artifact: { artifactId: artifactId('a'), parts: [{ text }] } },
});

describe('appending an event', () => {
  it('is allowed exactly where the state machine allows it', () => {
    for (const from of STATES) {
      for (const to of STATES) {
        const task = taskIn(from);
        const attempt = () => task.append(status(task, to));
        if (mayFollow(from, to)) {
          expect(attempt().seq).toBe(2);
          expect(task.row).toMatchObject({ state: to, last: 2, statusAt: Date.UTC(2026, 0, 1, 0, 0, 1) });
        } else {
          expect(attempt, `${from} to ${to}`).toThrow(expect.objectContaining({ kind: 'INVALID_AGENT_RESPONSE' }));
          expect(task.row).toMatchObject({ state: from, last: 1 });
          expect(task.pending.entries).toEqual([]);
        }
      }
    }
  });

  it('accepts artifacts in every state but terminal ones, without moving the task in lists', () => {
    for (const state of STATES) {
      const task = taskIn(state);
      if (isTerminal(state)) expect(() => task.append(chunk(task, 'x'))).toThrow('accepts no further event');
      else {
        task.append(chunk(task, 'x'));
        expect(task.row).toMatchObject({ state, statusAt: 1000, last: 2 });
      }
    }
  });

  it('leaves no gap when it is rejected', () => {
    const task = taskIn('TASK_STATE_WORKING', { taskBytesMax: 1000, taskEventsMax: 4 });
    task.append(chunk(task, 'x'.repeat(500)));
    expect(() => task.append(chunk(task, 'x'.repeat(500)))).toThrow('maximum of 1,000 bytes');
    task.append(chunk(task, 'y'));
    task.append(chunk(task, 'z'));
    expect(() => task.append(chunk(task, 'z'))).toThrow('maximum of 4 events');
    task.append(status(task, 'TASK_STATE_COMPLETED'));
    expect(task.pending.entries.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
    expect(task.row.last).toBe(5);
  });

  it('counts the size of messages as well as artifacts', () => {
    const task = taskIn('TASK_STATE_WORKING', { taskBytesMax: 1000 });
    const said = { messageId: 'm' as never, role: 'ROLE_USER' as const, parts: [{ data: { text: 'x'.repeat(990) } }] };
    expect(() => task.append(status(task, 'TASK_STATE_WORKING'), { input: said })).toThrow('maximum of 1,000 bytes');
  });
});

describe('the key of a name', () => {
  it('differs for every owner, agent and name', () => {
    const owners = [ALICE, { tenant: 'a', principal: 'lice' }, { tenant: 'al', principal: 'ice' }, { tenant: '', principal: 'alic' }];
    const keys = owners.flatMap((owner) => [scopedKey(owner, 'echo', 'x'), scopedKey(owner, 'ech', 'ox'), scopedKey(owner, 'eecho', 'x')]);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
