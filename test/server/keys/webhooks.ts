import { expect } from 'vitest';
import type { ParleyConfig } from '#server';
import { eventually } from '../../support/eventually.ts';
import type { Receiver } from '../../support/receiver.ts';
import { startReceiver } from '../../support/receiver.ts';
import { metric, sendBody } from '../../support/server.ts';
import type { Checks } from './serving.ts';
import { post, send, served, start } from './serving.ts';

export const WEBHOOK_CHECKS: Checks = {
  'limits.pushConfigsMax': () =>
    served({ limits: { pushConfigsMax: 1 } }, async (server) => {
      const { id } = await start(server, 'sleep=1500');
      const more = async (): Promise<boolean> =>
        (await post(`${server.url}/tasks/${id}/pushNotificationConfigs`, { url: 'https://hook.example/x' })).ok;
      expect([await more(), await more()]).toEqual([true, false]);
    }),
  'limits.ownerPushConfigsMax': () =>
    served({ limits: { ownerPushConfigsMax: 1 } }, async (server) => {
      const more = async (): Promise<boolean> => {
        const { id } = await start(server, 'sleep=1500');
        return (await post(`${server.url}/tasks/${id}/pushNotificationConfigs`, { url: 'https://hook.example/x' })).ok;
      };
      expect([await more(), await more()]).toEqual([true, false]);
    }),
  'limits.deliveriesMax': () => atOnce({ deliveriesMax: 1 }, 1),
  'limits.hostDeliveriesMax': () => atOnce({ hostDeliveriesMax: 2 }, 2),
  'limits.webhookMsMax': () =>
    withHook(
      () => undefined,
      (hook) =>
        served({ allowLoopbackTargets: true, limits: { webhookMsMax: 100 } }, async (server) => {
          await send(server, 'x', { taskPushNotificationConfig: { url: hook.url } });
          await eventually(async () => (await metric(server.url, 'parley_webhook_attempts_total')) === 1);
        }),
    ),
  'limits.webhookDisableMs': () =>
    withHook(
      (_, response) => void response.writeHead(500).end(),
      (hook) =>
        served({ allowLoopbackTargets: true, limits: { webhookDisableMs: 0 } }, async (server) => {
          await send(server, 'x', { taskPushNotificationConfig: { url: hook.url } });
          await eventually(async () => (await metric(server.url, 'parley_webhook_letters_total')) === 1);
        }),
    ),
  allowedTargets: () => hears({ allowedTargets: ['127.0.0.0/8'] }),
  allowLoopbackTargets: () => hears({ allowLoopbackTargets: true }),
};

async function withHook(reply: Parameters<typeof startReceiver>[0], use: (hook: Receiver) => Promise<void>): Promise<void> {
  const hook = await startReceiver(reply);
  try {
    await use(hook);
  } finally {
    await hook.close();
  }
}

/** Expects a delivery that would not happen without the setting. */
async function hears(config: ParleyConfig): Promise<void> {
  await withHook(undefined, async (hook) => {
    const configuration = { taskPushNotificationConfig: { url: hook.url } };
    await served({}, async ({ url }) => expect((await post(`${url}/message:send`, sendBody('x', { configuration }))).status).toBe(400));
    await served(config, async (server) => {
      await send(server, 'x', configuration);
      await eventually(() => hook.hits.length > 0);
    });
  });
}

/** How many webhooks are sent at the same time when many tasks finish together. */
async function atOnce(limits: NonNullable<ParleyConfig['limits']>, most: number): Promise<void> {
  const slowly = (_: unknown, response: { end(): unknown }): void => void setTimeout(() => response.end(), 50);
  await withHook(slowly, (hook) =>
    served({ allowLoopbackTargets: true, limits }, async (server) => {
      for (let at = 0; at < 6; at += 1) await send(server, 'x', { taskPushNotificationConfig: { url: hook.url } });
      await eventually(() => hook.hits.length >= 12);
      expect(hook.most()).toBe(most);
    }),
  );
}
