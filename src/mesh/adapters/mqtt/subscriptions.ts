import type { IPublishPacket, ISubscriptionMap, MqttClient } from 'mqtt';
import type { BrokerSubscription } from '../../broker.ts';
import { BrokerError } from '../../broker.ts';
import { isFilter, matches } from '../../topics.ts';

/** By subscription identifier. */
export type Subscriptions = Map<number, BrokerSubscription>;

/**
 * A topic may match several filters, and the broker then sends one copy for all or one for each (MQTT 5
 * §3.3.4). The identifiers in the packet name the subscriptions. Without identifiers the filters
 * decide.
 */
export function receivers(subscriptions: Subscriptions, { topic, properties }: IPublishPacket): readonly BrokerSubscription[] {
  const named = properties?.subscriptionIdentifier;
  if (typeof named === 'number') {
    const one = subscriptions.get(named);
    return one === undefined ? [] : [one];
  }
  if (named === undefined) return [...subscriptions.values()].filter(({ filter }) => matches(filter, topic));
  return [named].flat().flatMap((id) => subscriptions.get(id) ?? []);
}

/**
 * Subscribes once for each filter and group. MQTT would replace a second subscription of the same
 * filter.
 */
export async function subscribe(client: MqttClient, all: Subscriptions, subscription: BrokerSubscription): Promise<() => Promise<void>> {
  const { filter, group } = subscription;
  if (!isFilter(filter)) throw new BrokerError(`${filter.slice(0, 100)} is not a topic filter`);
  const sharedFilter = group === undefined ? filter : `$share/${group}/${filter}`;
  const isTwice = [...all.values()].some((other) => other.filter === filter && other.group === group);
  if (isTwice) throw new BrokerError(`this connection already subscribes to ${sharedFilter}`); // MQTT would replace the first subscription
  const id = Math.max(0, ...all.keys()) + 1;
  all.set(id, subscription);
  try {
    await untilGranted(client, sharedFilter, id);
  } catch (cause) {
    all.delete(id);
    if (cause instanceof BrokerError) throw cause;
    throw new BrokerError(`the broker did not grant ${sharedFilter}`, { hint: 'check that this user may subscribe to it', cause });
  }
  return async () => {
    all.delete(id);
    if (client.connected) await client.unsubscribeAsync(sharedFilter).catch(() => undefined);
  };
}

const SUBSCRIBE_TRIES = 10;

/**
 * Subscribes again after a connection that broke before the broker's answer. That happens when another client takes this one's id, or when the
 * broker restarts.
 */
async function untilGranted(client: MqttClient, filter: string, id: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const broke = breaks(client);
    try {
      const wanted: ISubscriptionMap = { [filter]: { qos: 1 } };
      wanted.resubscribe = true; // otherwise mqtt.js takes a filter that it knows for granted, whether the broker has answered or not
      await client.subscribeAsync(wanted, { qos: 1, properties: { subscriptionIdentifier: id } });
      return;
    } catch (cause) {
      if (!broke.happened()) throw cause;
      if (client.disconnecting || client.options.reconnectPeriod === 0 || tries === SUBSCRIBE_TRIES)
        throw new BrokerError(`the connection broke while ${filter} was subscribed to`, {
          hint: 'does another process use the same name on this broker?',
          cause,
        });
    } finally {
      broke.forget();
    }
  }
}

/** Whether the connection has broken since the call. */
function breaks(client: MqttClient): { happened(): boolean; forget(): void } {
  let happened = false;
  const note = (): void => {
    happened = true;
  };
  client.on('close', note);
  return { happened: () => happened || !client.connected, forget: () => client.off('close', note) };
}
