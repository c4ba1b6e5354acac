import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { fakeAgent, statusOf } from '../fake-agent.ts';
import { begun, jsonOf, linesOf, run, start } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

let script: Parley;
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory', '--allow-loopback-targets'] });
});
afterAll(() => script.stop());

describe('task push-config', () => {
  verifies('A2ACLI_PUSH_001', 'creates, gets, lists and deletes', async () => {
    const { task } = await begun(script.url, 'ask');
    const push = (...words: string[]) => run(['task', 'push-config', ...words, '-a', script.url, '-o', 'json']);
    const made = await push(
      'create',
      task,
      '--url',
      'http://127.0.0.1:9/hook',
      '--id',
      'hook-1',
      '--auth-scheme',
      'Bearer',
      '--auth-credentials',
      'abc123',
    );
    expect([made.code, jsonOf(made)]).toMatchObject([0, { id: 'hook-1', url: 'http://127.0.0.1:9/hook' }]);
    expect(jsonOf(await push('get', task, 'hook-1'))).toMatchObject({ id: 'hook-1', taskId: task });
    expect(jsonOf(await push('list', task))).toMatchObject({ configs: [{ id: 'hook-1' }] });
    expect((await run(['task', 'push-config', 'list', task, '-a', script.url])).out).toContain(
      'Config: hook-1\nURL: http://127.0.0.1:9/hook\n',
    );
    expect((await push('delete', task, 'hook-1')).code).toBe(0);
    expect(jsonOf(await push('list', task))).toEqual({ configs: [] });
  });

  verifies('A2ACLI_PUSH_002', 'receives the events of a live agent in a local webhook', async () => {
    const { task } = await begun(script.url, 'ask');
    const listening = start(['task', 'push-config', 'listen', '-a', script.url, task, '-o', 'json', '--stream']);
    await listening.until(/listening at/, 'err');
    await run(['send', '-a', script.url, '--task-id', task, 'blue']);
    const ran = await listening.ended;
    expect(ran.code, ran.err).toBe(0);
    expect(linesOf(ran).at(-1)).toMatchObject({ statusUpdate: { taskId: task, status: { state: 'TASK_STATE_COMPLETED' } } });
    const late = await run(['task', 'push-config', 'listen', '-a', script.url, task, '--timeout', '20s']);
    expect([late.code, late.err]).toEqual([0, 'the task is over already\n']);
  });

  excludes('A2ACLI_PUSH_002', 'receives only events of the agent, in a local webhook', async () => {
    let hook: { url: string; authentication: { credentials: string } } | undefined;
    const agent = await fakeAgent({
      on: {
        CreateTaskPushNotificationConfig: (params) => {
          hook = params as unknown as typeof hook;
          return { result: { ...params, id: 'p-1' } };
        },
        DeleteTaskPushNotificationConfig: () => ({ result: null }),
      },
    });
    const listening = start(['task', 'push-config', 'listen', '-a', agent.url, 't-1', '-o', 'json', '--stream']);
    await listening.until(/listening at/, 'err');
    const post = (body: object, token: string) =>
      fetch(hook?.url ?? '', { method: 'POST', body: JSON.stringify(body), headers: { Authorization: `Bearer ${token}` } });
    expect((await post(statusOf('WORKING'), 'wrong')).status).toBe(401);
    const token = hook?.authentication.credentials ?? '';
    expect((await post({ nonsense: true }, token)).status).toBe(400);
    expect((await post(statusOf('WORKING'), token)).status).toBe(200);
    expect((await post(statusOf('COMPLETED'), token)).status).toBe(200);
    const ran = await listening.ended;
    expect(ran.code).toBe(0);
    expect(linesOf(ran)).toEqual([statusOf('WORKING'), statusOf('COMPLETED')]);
    expect(ran.err).not.toContain(token);
    expect(agent.calls('DeleteTaskPushNotificationConfig')).toHaveLength(1);
    await agent.close();
  });
});
