import type { DeliveryOutcome } from '#engine';
import type { Agent, PushConfig, SendRequest, TaskEvent } from '#protocol';
import type { FakeSender } from './engine.ts';
import { agent } from './engine.ts';

export const HOOK = 'https://hooks.example/a';
export const FAILED: DeliveryOutcome = { kind: 'failed', problem: 'HTTP 503' };
export const HOUR = 3_600_000;

/** A send that registers its webhook with it. */
export const inline = (more: Partial<PushConfig> = {}): Pick<SendRequest, 'configuration'> => ({
  configuration: { taskPushNotificationConfig: { url: HOOK, ...more } },
});

/** What a webhook heard, in short: the text of an artifact, or a state. */
export const shortOf = ({ sent }: FakeSender): readonly string[] =>
  sent.map(({ body }) => {
    const { artifactUpdate, statusUpdate } = JSON.parse(body) as TaskEvent;
    return artifactUpdate?.artifact.parts[0]?.text ?? statusUpdate?.status.state.slice('TASK_STATE_'.length) ?? 'task';
  });

/** Makes so many artifacts, named by their number. */
export const counting = (count: number): Agent =>
  agent(async function* () {
    for (let at = 1; at <= count; at += 1) yield { kind: 'artifact', parts: [{ text: `${at}` }] };
  });
