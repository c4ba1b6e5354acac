import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startNode } from '../support/processes.ts';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

it.each([
  [['--seeds', 'abc'], '--seeds must be a whole number from 1, and is "abc"'],
  [['--seed', '0'], '--seed must be a whole number from 1'],
  [['--jobs='], '--jobs must be a whole number from 1'],
  [['--nope'], "Unknown option '--nope'"],
])('the simulator refuses %j, and prints what it takes', async (args, message) => {
  const child = startNode([RUN, ...args]);
  expect((await child.ended).code).toBe(2);
  expect(child.errors()).toContain(message);
  expect(child.errors()).toContain('npm run simulate -- --seed N [--trace]');
});

it('runs one seed', async () => {
  const child = startNode([RUN, '--seed', '1']);
  expect(await child.ended).toMatchObject({ code: 0 });
  expect(child.lines()).toContain('Every invariant held.');
});
