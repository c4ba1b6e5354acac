import { describe, expect, it } from 'vitest';
import type { TaskKey } from '#engine';
import { pushConfigId, seq } from '#protocol';
import type { OutboxRow } from '../ports.ts';
import type { DeliveryOutcome } from './delivery.ts';
import type { DeliveryAttempt } from './schedule.ts';
import { delayMs, judge, SCHEDULE_MS } from './schedule.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const row: OutboxRow = { n: 1, task: 1 as TaskKey, config: pushConfigId('a'), done: seq(4), state: 'open', attempts: 0, dueAt: 0 };
const FAILED: DeliveryOutcome = { kind: 'failed', problem: 'HTTP 503' };
const tried = (outcome: DeliveryOutcome, more: Partial<DeliveryAttempt> = {}): DeliveryAttempt => ({
  ...{ outcome, seq: seq(5), last: seq(9), now: 1000, random: 0.5, disableMs: 5 * DAY },
  ...more,
});

describe('the schedule', () => {
  it('W1: has ten attempts over about three days', () => {
    expect(SCHEDULE_MS.map((ms) => ms / 1000)).toEqual([0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    const total = SCHEDULE_MS.reduce((sum, ms) => sum + ms, 0);
    expect(total / HOUR).toBeCloseTo(75.6, 1);
  });

  it('varies by a fifth either way', () => {
    expect([0, 0.5, 1].map((random) => Math.round(delayMs(1, random)))).toEqual([4000, 5000, 6000]);
    expect(delayMs(99, 0.5)).toBe(DAY);
  });
});

describe('after an attempt', () => {
  it('that succeeded the queue advances and its failures are reset', () => {
    const before = { ...row, attempts: 3, failingSince: 7, problem: 'HTTP 500' };
    expect(judge(before, tried({ kind: 'delivered' }))).toEqual({ row: { ...row, done: 5, dueAt: 1000 } });
  });

  it('that failed it is retried, each time later', () => {
    let now = 0;
    let current: OutboxRow | undefined = row;
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 10 && current !== undefined; attempt += 1) {
      const { row: next, deadLetter: letter } = judge(current, tried(FAILED, { now }));
      if (letter !== undefined) {
        expect(attempt).toBe(10);
        expect(letter).toMatchObject({ state: 'dead', done: 4, upTo: 5, attempts: 10, failingSince: 0, problem: 'HTTP 503' });
        expect(next).toEqual({ ...row, done: 5, dueAt: now, failingSince: 0 });
        break;
      }
      waits.push((next?.dueAt ?? 0) - now);
      now = next?.dueAt ?? now;
      current = next;
    }
    expect(waits).toEqual(SCHEDULE_MS.slice(1));
  });

  it('W3: Retry-After extends the wait, up to an hour', () => {
    const dueAt = (retryAfterMs: number) => judge(row, tried({ ...FAILED, retryAfterMs }, { now: 0 })).row?.dueAt;
    expect([dueAt(1000), dueAt(60_000), dueAt(DAY)]).toEqual([5000, 60_000, HOUR]);
  });

  it('W3: a refused event is tried four times', () => {
    const refused: DeliveryOutcome = { kind: 'refused', problem: 'HTTP 404' };
    expect(judge({ ...row, attempts: 2 }, tried(refused)).deadLetter).toBeUndefined();
    expect(judge({ ...row, attempts: 3 }, tried(refused))).toMatchObject({
      row: { done: 5 },
      deadLetter: { done: 4, upTo: 5, attempts: 4 },
    });
  });

  it('W3: a receiver that is gone gets nothing more, and the missed events become a dead letter', () => {
    expect(judge(row, tried({ kind: 'gone', problem: 'HTTP 410' }))).toMatchObject({
      row: undefined,
      deadLetter: { state: 'dead', done: 4, upTo: 9, problem: 'HTTP 410' },
    });
  });

  it('W12: so does one that has accepted nothing for five days', () => {
    const failing = { ...row, attempts: 1, failingSince: 0 };
    expect(judge(failing, tried(FAILED, { now: 5 * DAY - 1 })).row).toBeDefined();
    expect(judge(failing, tried(FAILED, { now: 5 * DAY }))).toMatchObject({ row: undefined, deadLetter: { done: 4, upTo: 9 } });
  });

  it('a dead letter that fails again stays the same dead letter', () => {
    const replayed = { ...row, upTo: seq(7), attempts: 9, failingSince: 0 };
    expect(judge(replayed, tried(FAILED))).toMatchObject({ row: undefined, deadLetter: { done: 4, upTo: 7, attempts: 10 } });
  });

  it('limits the length of the stored problem', () => {
    expect(judge(row, tried({ kind: 'failed', problem: 'x'.repeat(1000) })).row?.problem).toHaveLength(200);
  });
});
