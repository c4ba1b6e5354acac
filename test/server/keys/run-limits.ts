import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { defineAgent } from '#agents';
import type { NodeServer } from '../../../src/server/adapters/node.ts';
import { eventually } from '../../support/eventually.ts';
import { expectFigure } from '../../support/figures.ts';
import { metric, sendBody } from '../../support/server.ts';
import { blocksOf, rawStream } from '../../support/sse.ts';
import type { Checks } from './serving.ts';
import { post, send, served, start, talker } from './serving.ts';

const deaf = defineAgent({
  name: 'deaf',
  description: 'hears no signal',
  run: async (turn) => (turn.text === 'work' ? sleep(4000).then(() => 'x') : 'x'),
});

export const RUN_LIMIT_CHECKS: Checks = {
  'limits.runMsMax': () =>
    served({ limits: { runMsMax: 200, tickMs: 50 } }, async (server) =>
      expect((await send(server, 'sleep=4000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.runIdleMsMax': () =>
    served({ limits: { runIdleMsMax: 200, tickMs: 50 } }, async (server) =>
      expect((await send(server, 'sleep=4000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.runAskMsMax': () =>
    served(
      { limits: { runAskMsMax: 200, tickMs: 50 } },
      async (server) => {
        await send(server, 'ask');
        await eventually(async () => (await metric(server.url, 'parley_tasks_asking')) === 0);
      },
      { agent: talker },
    ),
  'limits.runGraceMs': () =>
    served(
      { limits: { runningTasksMax: 1, runGraceMs: 100, tickMs: 50 } },
      async (server) => {
        const { id } = await start(server, 'work');
        await post(`${server.url}/tasks/${id}:cancel`, {});
        const began = performance.now();
        await send(server, 'x');
        expectFigure(performance.now() - began, { below: 2500 });
      },
      { agent: deaf },
    ),
  'limits.firstOutputMs': () =>
    served({ limits: { firstOutputMs: 1200 } }, async ({ port }) => {
      const began = performance.now();
      const stream = await rawStream(port, { path: '/message:stream', body: sendBody('sleep=3000') });
      await eventually(() => blocksOf(stream.text()).length > 0);
      expectFigure(performance.now() - began, { above: 1000 });
      stream.break();
    }),
  'limits.pollMsMax': () =>
    served({ limits: { pollMsMax: 300 } }, async (server) => {
      const { id } = await start(server, 'sleep=5000');
      const began = performance.now();
      await (
        await post(`${server.url}/a2a?dialect=v10.generation`, {
          jsonrpc: '2.0',
          id: 1,
          method: 'GetTask',
          params: { id, currentGeneration: '1' },
        })
      ).text();
      expectFigure(performance.now() - began, { above: 250 });
      expectFigure(performance.now() - began, { below: 4000 });
    }),
  'limits.tickMs': async () => {
    const took: number[] = [];
    const run = async (server: NodeServer): Promise<void> => {
      const began = performance.now();
      await send(server, 'sleep=4000');
      took.push(performance.now() - began);
    };
    // By default the engine checks runs once a second. The fastest of a few runs counts, because a busy machine can be late.
    for (let tries = 0; tries < 3 && !took.some((ms) => ms < 900); tries += 1) await served({ limits: { runMsMax: 100, tickMs: 20 } }, run);
    expectFigure(Math.min(...took), { below: 900 });
  },
};
