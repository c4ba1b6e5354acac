import { expect, it } from 'vitest';
import { createUserMessage } from '#protocol';
import { memoryHub } from '../../src/mesh/adapters/memory.ts';
import { callContext } from '../mesh/support.ts';
import { COUNTED, callerOn, countingAgent, GRAMMARS, heardOut, replica, textOf, unruly } from './mesh.ts';

it.each(GRAMMARS)('B2: duplicated and reordered requests run once and get complete replies: %s', async (_, grammar) => {
  const hub = memoryHub();
  const runs = new Map<string, number>();
  const [theirs, ours] = [unruly(hub.connect(), 1), unruly(hub.connect(), 2)];
  const served = await replica(theirs, { agent: countingAgent(runs, 5, 5), grammar });
  const caller = await callerOn(ours, grammar);
  const link = caller.link({ agent: 'worker', idleMsMax: 5000 });
  const tasks = await Promise.all(
    Array.from({ length: 60 }, (__, at) => heardOut(link.stream({ message: createUserMessage(`request ${at}`) }, callContext()))),
  );
  expect(tasks.map((task) => [task?.status.state, textOf(task)])).toEqual(tasks.map(() => ['TASK_STATE_COMPLETED', COUNTED]));
  expect([...runs.values()]).toEqual(Array(60).fill(1));
  // Otherwise the test has tried nothing.
  expect(Math.min(theirs.twice(), theirs.late(), ours.twice(), ours.late())).toBeGreaterThan(5);
  await caller.mesh.close();
  await served.close();
});
