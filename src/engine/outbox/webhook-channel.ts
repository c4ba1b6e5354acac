import { seqAfter } from '#protocol';
import type { Agents } from '../agents.ts';
import { isUnavailable } from '../commit/outcome.ts';
import type { EngineClock } from '../engine-clock.ts';
import type { EngineLimits } from '../limits.ts';
import type { PushRow, Store } from '../ports.ts';
import type { ReportFailure } from '../report.ts';
import type { DeliveryChannel } from './channel.ts';
import type { ComposeParts } from './compose-webhook.ts';
import { composeWebhook } from './compose-webhook.ts';
import type { WebhookSender } from './delivery.ts';
import type { DeliveryQueue } from './queue.ts';
import { endOf, reportedOf } from './queue.ts';
import { DELAY_MS_MAX, judge, LOOK_AGAIN_MS } from './schedule.ts';

export interface WebhookChannelParts extends ComposeParts {
  readonly store: ComposeParts['store'] & Pick<Store, 'pushConfigs'>;
  readonly agents: Agents;
  readonly clock: EngineClock;
  readonly random: () => number;
  readonly limits: Pick<EngineLimits, 'deliveriesMax' | 'hostDeliveriesMax' | 'webhookDisableMs'>;
  readonly report: ReportFailure;
}

/**
 * Webhooks: one event at a time, retried for days, and then set aside as a dead letter for an operator.
 */
export function webhookChannel(parts: WebhookChannelParts, sender: WebhookSender): DeliveryChannel {
  const { agents, clock, limits, random, report } = parts;
  let reportedAt = Number.NEGATIVE_INFINITY;
  /** A database reports itself that it is not available. A bucket that refuses its keys does not, and may do so for ever. */
  const reportLongWait = (queue: DeliveryQueue, cause: unknown): void => {
    const now = clock.now().ms;
    if (now - Math.max(queue.pendingSince ?? now, reportedAt) < LOOK_AGAIN_MS) return;
    reportedAt = now;
    report(`events of task ${queue.task.id} and others can not be delivered, because the store can not be read`, cause, reportedOf(queue));
  };
  return {
    kind: 'webhook',
    activeMax: limits.deliveriesMax,
    perDestinationMax: limits.hostDeliveriesMax,
    hasBreaker: true,
    drainsOnStop: false,
    delayMsMax: DELAY_MS_MAX,
    ownsConfig: false,
    // The card may have the capability again after a restart; then the queue continues.
    mayDeliver: ({ task }) => agents.get(task.agent)?.card.capabilities.pushNotifications !== false,
    destinationOf: async (queue) => {
      const push = await configOf(parts, queue);
      return push === undefined ? undefined : originOf(push);
    },
    attempt: async (queue, signal) => {
      try {
        const push = await configOf(parts, queue);
        if (push === undefined) return 'gone';
        const { delivery, seq } = await composeWebhook(parts, queue, push);
        queue.head = seq;
        return { outcome: await sender.send(delivery, signal), seq };
      } catch (thrown) {
        if (signal.aborted) return 'aborted';
        if (isUnavailable(thrown)) {
          reportLongWait(queue, thrown);
          return 'unread';
        }
        report(`an event of task ${queue.task.id} could not be delivered`, thrown, reportedOf(queue));
        const seq = queue.head ?? seqAfter(queue.row.done);
        return { outcome: { kind: 'failed', problem: 'the delivery could not be composed; see the log of the server' }, seq };
      }
    },
    judge: (queue, { outcome, seq }) => {
      const disableMs = limits.webhookDisableMs;
      return judge(queue.row, { outcome, seq, last: endOf(queue), now: clock.now().ms, random: random(), disableMs });
    },
  };
}

async function configOf({ store }: WebhookChannelParts, { row, task }: DeliveryQueue): Promise<PushRow | undefined> {
  const rows = await store.pushConfigs(task.key);
  return rows.find(({ config }) => config.id === row.config);
}

function originOf({ config }: PushRow): string {
  return URL.parse(config.url)?.origin ?? '';
}
