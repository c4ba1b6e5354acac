import { describe, expect, it } from 'vitest';
import { createCallerCounts, type ExchangedCounts } from './caller-counts.ts';

/** Each of them hears what all others tell. */
function exchange(nodes: Readonly<Record<string, ExchangedCounts>>, now = 0): void {
  const told = new Map(Object.entries(nodes).map(([name, node]) => [name, node.tell(now)]));
  for (const [name, node] of Object.entries(nodes)) node.hear(new Map([...told].filter(([other]) => other !== name)));
}

describe('counts of callers on several nodes', () => {
  it('tells what the others have now, and forgets it when they have ended', () => {
    const [a, b, c] = [createCallerCounts(), createCallerCounts(), createCallerCounts()];
    a.hold('tasks', 'ann', 2);
    b.hold('tasks', 'ann', 3);
    b.hold('streams', 'ann', 1);
    exchange({ a, b, c });
    expect([a.elsewhere('tasks', 'ann'), b.elsewhere('tasks', 'ann'), c.elsewhere('tasks', 'ann')]).toEqual([3, 2, 5]);
    expect([a.elsewhere('streams', 'ann'), b.elsewhere('streams', 'ann'), a.elsewhere('tasks', 'bob')]).toEqual([1, 0, 0]);
    b.hold('tasks', 'ann', 0);
    exchange({ a, b, c });
    expect(c.elsewhere('tasks', 'ann')).toBe(2);
    exchange({ b, c });
    expect(c.elsewhere('tasks', 'ann')).toBe(0);
  });

  it('charges each request of another node once', () => {
    const [a, b] = [createCallerCounts(), createCallerCounts()];
    const charged: unknown[] = [];
    b.follow((...what) => charged.push(what));
    a.take('requests', 'ann', 1);
    exchange({ a, b });
    // The first report of a node is about the past.
    expect(charged).toEqual([]);
    a.take('requests', 'ann', 2);
    a.take('bytes', 'ann', 100);
    a.take('requests', 'bob', 1);
    exchange({ a, b });
    exchange({ a, b });
    expect(charged).toEqual([
      ['requests', 'ann', 2],
      ['requests', 'bob', 1],
      ['bytes', 'ann', 100],
    ]);
  });

  it('forgets callers that are quiet, and counts them again later', () => {
    const [a, b] = [createCallerCounts(), createCallerCounts()];
    const charged: number[] = [];
    b.follow((_, __, amount) => charged.push(amount));
    exchange({ a, b });
    a.take('requests', 'ann', 5);
    exchange({ a, b }, 1000);
    exchange({ a, b }, 100_000);
    expect(a.tell(100_000)).not.toContain('ann');
    a.take('requests', 'ann', 3);
    exchange({ a, b }, 200_000);
    expect(charged).toEqual([5, 3]);
  });
});
