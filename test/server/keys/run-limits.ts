import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { defineAgent, message } from '#agents';
import { eventually } from '../../support/eventually.ts';
import { sendBody } from '../../support/server.ts';
import { blocksOf } from '../../support/sse.ts';
import type { Checks } from './serving.ts';
import { post, send, served, start, talker } from './serving.ts';

let isDeafDone = false;
const deaf = defineAgent({
  name: 'deaf',
  description: 'hears no signal',
  run: async (turn) => {
    if (turn.text !== 'work') return 'x';
    isDeafDone = false;
    await sleep(4000);
    isDeafDone = true;
    return 'x';
  },
});

const late = defineAgent({
  name: 'late',
  description: 'answers with a direct message after a second',
  run: async () => {
    await sleep(1000);
    return message({ text: 'x' });
  },
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
        await eventually(() => server.handler.activity().asking === 0);
      },
      { agent: talker },
    ),
  'limits.runGraceMs': () =>
    served(
      { limits: { runningTasksMax: 1, runGraceMs: 100, tickMs: 50 } },
      async (server) => {
        const { id } = await start(server, 'work');
        await post(`${server.url}/tasks/${id}:cancel`, {});
        await send(server, 'x');
        // By default the canceled run would keep its slot until it has ended.
        expect(isDeafDone).toBe(false);
      },
      { agent: deaf },
    ),
  'limits.firstOutputMs': () =>
    served(
      { limits: { firstOutputMs: 600_000 } },
      async ({ url }) => {
        // By default the stream would announce a task first.
        const stream = await (await post(`${url}/message:stream`, sendBody('x'))).text();
        expect(blocksOf(stream).map(({ data }) => Object.keys(data ?? {}))).toEqual([['message']]);
      },
      { agent: late },
    ),
  'limits.pollMsMax': () =>
    served({ limits: { pollMsMax: 300 } }, async (server) => {
      const { id } = await start(server, 'sleep=5000');
      const known = { id, currentGeneration: '1000' };
      const polled = await post(`${server.url}/a2a?dialect=v10.generation`, { jsonrpc: '2.0', id: 1, method: 'GetTask', params: known });
      // By default the request would wait until the task has ended.
      expect(await polled.text()).toContain('TASK_STATE_WORKING');
    }),
  'limits.tickMs': () =>
    // By default the run would be checked after a second, and ended.
    served({ limits: { runMsMax: 100, tickMs: 600_000 } }, async (server) =>
      expect((await send(server, 'sleep=2500')).status.state).toBe('TASK_STATE_COMPLETED'),
    ),
};
