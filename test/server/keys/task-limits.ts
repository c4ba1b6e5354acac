import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { metric, sendBody } from '../../support/server.ts';
import type { Checks } from './serving.ts';
import { gone, post, send, served, start, stateOf, talker } from './serving.ts';

const folder = scratchFolder();

export const TASK_LIMIT_CHECKS: Checks = {
  'limits.taskEventsMax': () =>
    served({ limits: { taskEventsMax: 10 } }, async (server) =>
      expect((await send(server, 'chunks=50')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.taskBytesMax': () =>
    served({ limits: { taskBytesMax: 5000 } }, async (server) =>
      expect((await send(server, 'chunks=50 size=1000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.artifactBytesMax': () =>
    served({ limits: { artifactBytesMax: 5000 } }, async (server) =>
      expect((await send(server, 'chunks=50 size=1000')).status.state).toBe('TASK_STATE_FAILED'),
    ),
  'limits.spillBytes': () =>
    served({ limits: { spillBytes: 100 }, data: join(folder, 'spill'), memory: false, agents: ['echo'] }, async (server) => {
      await send(server, 'x'.repeat(200));
      expect(readdirSync(join(folder, 'spill', 'blobs'), { recursive: true }).length).toBeGreaterThan(0);
    }),
  'limits.runningTasksMax': () =>
    served({ limits: { runningTasksMax: 1 } }, async (server) => {
      const first = await start(server, 'sleep=1500');
      const second = await start(server, 'chunks=1');
      expect([first.status.state, second.status.state]).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_SUBMITTED']);
    }),
  'limits.queuedTasksMax': () =>
    served({ limits: { runningTasksMax: 1, queuedTasksMax: 1 } }, async (server) => {
      await start(server, 'sleep=1500');
      await start(server, 'chunks=1');
      expect((await post(`${server.url}/message:send`, sendBody('x'))).status).toBe(503);
    }),
  'limits.queuedMessagesMax': () =>
    served({ limits: { queuedMessagesMax: 1 } }, async (server) => {
      const { id } = await start(server, 'sleep=1500');
      const more = async (): Promise<number> =>
        (
          await post(`${server.url}/message:send`, {
            message: { ...(sendBody('x')['message'] as object), taskId: id },
            configuration: { returnImmediately: true },
          })
        ).status;
      expect([await more(), await more()]).toEqual([200, 503]);
    }),
  'limits.openContextsMax': () =>
    served(
      { limits: { openContextsMax: 2 } },
      async (server) => {
        for (let at = 0; at < 5; at += 1) await send(server, 'x');
        expect(await metric(server.url, 'parley_contexts_open')).toBe(2);
      },
      { agent: talker },
    ),
  'limits.openContextMsMax': () =>
    served(
      { limits: { openContextMsMax: 2000, sweepMs: 50, tickMs: 20 } },
      async (server) => {
        await send(server, 'x');
        expect(await metric(server.url, 'parley_contexts_open')).toBe(1);
        await eventually(async () => (await metric(server.url, 'parley_contexts_open')) === 0);
      },
      { agent: talker },
    ),
  'limits.pageBytesMax': () =>
    served({ limits: { pageBytesMax: 5000 } }, async (server) => {
      for (let at = 0; at < 3; at += 1) await send(server, 'chunks=1 size=4000');
      const page = (await (await fetch(`${server.url}/tasks?includeArtifacts=true`)).json()) as { tasks: object[]; nextPageToken: string };
      expect([page.tasks.length, page.nextPageToken === '']).toEqual([1, false]);
    }),
  'limits.finishedMsMax': () => served({ limits: { finishedMsMax: 100, sweepMs: 50, tickMs: 20 } }, gone),
  'limits.finishedTasksMax': () =>
    served({ limits: { finishedTasksMax: 2, sweepMs: 50, tickMs: 20 } }, async (server) => {
      for (let at = 0; at < 5; at += 1) await send(server, 'x');
      await eventually(async () => ((await (await fetch(`${server.url}/tasks`)).json()) as { totalSize: number }).totalSize === 2);
    }),
  'limits.waitingMsMax': () =>
    served({ limits: { waitingMsMax: 100, sweepMs: 50, tickMs: 20 } }, async (server) => {
      const { id } = await send(server, 'ask');
      await eventually(async () => (await stateOf(server, id)) === 'TASK_STATE_FAILED');
    }),
  'limits.sweepMs': () => served({ limits: { finishedMsMax: 1, sweepMs: 50, tickMs: 20 } }, gone),
};
