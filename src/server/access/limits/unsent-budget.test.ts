import { describe, expect, it } from 'vitest';
import { createUnsentBudget, type UnsentResponse } from './unsent-budget.ts';

function world(limits: { connection?: number; caller?: number; all?: number }) {
  const cuts: string[] = [];
  const { connection = 0, caller = 0, all = 0 } = limits;
  const budget = createUnsentBudget({ unsentConnectionBytesMax: connection, unsentCallerBytesMax: caller, unsentBytesMax: all });
  const response = (name: string, owner?: string): UnsentResponse => ({ caller: owner, cut: () => cuts.push(name) });
  return { budget, cuts, response };
}

describe('the budget of unsent bytes', () => {
  it('cuts the reader without progress for the longest time', () => {
    const { budget, cuts, response } = world({ all: 100 });
    const [a, b, c] = [response('a'), response('b'), response('c')];
    budget.hold(a, 40);
    budget.hold(b, 40);
    budget.hold(a, 39); // a has read something, b has not
    budget.hold(c, 40);
    expect([cuts, budget.bytes]).toEqual([['b'], 79]);
  });

  it('cuts as many as needed, but never the one that is served now', () => {
    const { budget, cuts, response } = world({ all: 100 });
    budget.hold(response('a'), 40);
    budget.hold(response('b'), 40);
    budget.hold(response('c'), 500);
    expect([cuts, budget.bytes]).toEqual([['a', 'b'], 500]);
  });

  it('counts each caller apart', () => {
    const { budget, cuts, response } = world({ caller: 100 });
    budget.hold(response('a1', 'a'), 60);
    budget.hold(response('b1', 'b'), 60);
    budget.hold(response('nobody'), 600);
    budget.hold(response('a2', 'a'), 60);
    expect(cuts).toEqual(['a1']);
  });

  it('cuts a connection that alone holds too much', () => {
    const { budget, cuts, response } = world({ connection: 100 });
    budget.hold(response('a'), 60);
    budget.hold(response('b'), 101);
    expect([cuts, budget.bytes]).toEqual([['b'], 60]);
  });

  it('forgets what is sent', () => {
    const { budget, cuts, response } = world({ all: 100, caller: 100 });
    for (let at = 0; at < 10; at += 1) {
      const one = response('x', 'a');
      budget.hold(one, 90);
      budget.release(one);
      budget.release(one);
    }
    expect([cuts, budget.bytes]).toEqual([[], 0]);
  });
});
