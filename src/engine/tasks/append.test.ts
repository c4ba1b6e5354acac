import { describe, expect, it } from 'vitest';
import type { EngineLimits } from '#engine';
import type { TaskEvent, TaskState } from '#protocol';
import { artifactId, isTerminal, mayFollow, TASK_STATES } from '#protocol';
import { ALICE, rowOf, seqOf } from '../../../test/contracts/rows.ts';
import { countingIds, echo, fakeTime } from '../../../test/support/engine.ts';
import { memoryStore } from '../adapters/memory.ts';
import { assemble } from '../assemble.ts';
import type { Core } from './core.ts';
import { append, scopedKey } from './core.ts';
import type { Live } from './live-task.ts';
import { newLive } from './live-task.ts';

const STATES = Object.keys(TASK_STATES) as TaskState[];

function coreWith(limits: Partial<EngineLimits> = {}): Core {
  const { clock, timers } = fakeTime();
  return assemble({ store: memoryStore(), agents: { echo }, clock, timers, ids: countingIds(), limits }).core;
}

function liveIn(state: TaskState): Live {
  return newLive(rowOf(1, { state, last: seqOf(1) }), false);
}

const status = (live: Live, state: TaskState): TaskEvent => ({
  statusUpdate: { taskId: live.row.id, contextId: live.row.contextId, status: { state, timestamp: '2026-01-01T00:00:01.000Z' } },
});
const chunk = (live: Live, text: string): TaskEvent => ({
  artifactUpdate: { taskId: live.row.id, contextId: live.row.contextId, artifact: { artifactId: artifactId('a'), parts: [{ text }] } },
});

describe('appending an event', () => {
  it('is allowed exactly where the state machine allows it', () => {
    const core = coreWith();
    for (const from of STATES) {
      for (const to of STATES) {
        const live = liveIn(from);
        const attempt = () => append(core, live, status(live, to));
        if (mayFollow(from, to)) {
          expect(attempt().seq).toBe(2);
          expect(live.row).toMatchObject({ state: to, last: 2, statusAt: Date.UTC(2026, 0, 1, 0, 0, 1) });
        } else {
          expect(attempt, `${from} to ${to}`).toThrow(expect.objectContaining({ kind: 'INVALID_AGENT_RESPONSE' }));
          expect(live.row).toMatchObject({ state: from, last: 1 });
          expect(live.pending.entries).toEqual([]);
        }
      }
    }
  });

  it('takes artifacts in every state but the last ones, and does not move the task in lists', () => {
    const core = coreWith();
    for (const state of STATES) {
      const live = liveIn(state);
      if (isTerminal(state)) expect(() => append(core, live, chunk(live, 'x'))).toThrow('takes no further event');
      else {
        append(core, live, chunk(live, 'x'));
        expect(live.row).toMatchObject({ state, statusAt: 1000, last: 2 });
      }
    }
  });

  it('leaves no gap behind when it is refused', () => {
    const core = coreWith({ taskBytesMax: 1000, taskEventsMax: 4 });
    const live = liveIn('TASK_STATE_WORKING');
    append(core, live, chunk(live, 'x'.repeat(500)));
    expect(() => append(core, live, chunk(live, 'x'.repeat(500)))).toThrow('more than 1000 bytes');
    append(core, live, chunk(live, 'y'));
    append(core, live, chunk(live, 'z'));
    expect(() => append(core, live, chunk(live, 'z'))).toThrow('4 events');
    append(core, live, status(live, 'TASK_STATE_COMPLETED'));
    expect(live.pending.entries.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
    expect(live.row.last).toBe(5);
  });

  it('weighs messages as well as artifacts', () => {
    const core = coreWith({ taskBytesMax: 1000 });
    const live = liveIn('TASK_STATE_WORKING');
    const said = { messageId: 'm' as never, role: 'ROLE_USER' as const, parts: [{ data: { text: 'x'.repeat(990) } }] };
    expect(() => append(core, live, status(live, 'TASK_STATE_WORKING'), { input: said })).toThrow('more than 1000 bytes');
  });
});

describe('the key of a name', () => {
  it('is another for every owner, agent and name', () => {
    const owners = [ALICE, { tenant: 'a', principal: 'lice' }, { tenant: 'al', principal: 'ice' }, { tenant: '', principal: 'alic' }];
    const keys = owners.flatMap((owner) => [scopedKey(owner, 'echo', 'x'), scopedKey(owner, 'ech', 'ox'), scopedKey(owner, 'eecho', 'x')]);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
