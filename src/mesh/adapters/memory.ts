import type { Broker, BrokerOptions, BrokerSubscription, LastWill, OutgoingMessage, PublishResult, ReceivedMessage } from '../broker.ts';
import { BrokerError } from '../broker.ts';
import { isFilter, matches, publishProblem } from '../topics.ts';

/**
 * A broker inside one process, for tests and for trying things out.
 *
 * ```ts
 * const hub = memoryHub();
 * const mesh = joinMesh({ broker: hub.connect(), namespace: 'test' });
 * ```
 */
export interface MemoryHub {
  /** A new connection to the hub, as another process would have it. */
  connect(options?: BrokerOptions): MemoryBroker;
}

/** A connection to a `MemoryHub`. */
export interface MemoryBroker extends Broker {
  /** Disconnects as if the process died: the last will is published. */
  drop(): void;
}

interface Member {
  readonly subscription: BrokerSubscription;
  readonly owner: object;
}

interface Kept {
  readonly message: OutgoingMessage;
  readonly until: number;
}

/**
 * How often a message whose handler failed is delivered, without a pause, to the next member of the
 * group.
 */
const DELIVERIES_MAX = 5;

/**
 * Creates a broker in this process. Every participant connects to the same hub.
 *
 * ```ts
 * const hub = memoryHub();
 * const mesh = joinMesh({ broker: hub.connect(), namespace: 'demo' });
 * ```
 */
export function memoryHub(): MemoryHub {
  const members = new Set<Member>();
  const retained = new Map<string, Kept>();
  const turns = new Map<string, number>();

  const offer = async (
    message: ReceivedMessage,
    [first, ...rest]: readonly Member[],
    onProblem: BrokerOptions['onProblem'],
  ): Promise<void> => {
    if (first === undefined) return;
    await undefined; // handlers never run inside the publisher's call
    for (let attempt = 0; attempt < DELIVERIES_MAX; attempt += 1) {
      const member = [first, ...rest][attempt % (rest.length + 1)] ?? first;
      if (!members.has(member)) continue;
      try {
        await member.subscription.handle(message);
        return;
      } catch (thrown) {
        onProblem?.(`a message on ${message.topic} could not be handled`, thrown);
      }
    }
  };
  const deliver = (message: OutgoingMessage, onProblem: BrokerOptions['onProblem']): boolean => {
    const groups = new Map<string, Member[]>();
    let hasSubscribers = false;
    for (const member of [...members].filter(({ subscription }) => matches(subscription.filter, message.topic))) {
      hasSubscribers = true;
      const { group, filter } = member.subscription;
      if (group === undefined) void offer(incoming(message, false), [member], onProblem);
      else groups.set(`${group} ${filter}`, [...(groups.get(`${group} ${filter}`) ?? []), member]);
    }
    for (const [key, sharers] of groups) {
      const turn = (turns.get(key) ?? 0) % sharers.length;
      turns.set(key, turn + 1);
      void offer(incoming(message, false), [...sharers.slice(turn), ...sharers.slice(0, turn)], onProblem);
    }
    return hasSubscribers;
  };
  const accept = (message: OutgoingMessage, onProblem: BrokerOptions['onProblem']): PublishResult => {
    if (message.retain === true) {
      if (message.payload.length === 0) retained.delete(message.topic);
      else retained.set(message.topic, { message, until: performance.now() + (message.expiryMs ?? Number.POSITIVE_INFINITY) });
    }
    return { hasSubscribers: deliver(message, onProblem) };
  };
  const replay = (member: Member, onProblem: BrokerOptions['onProblem']): void => {
    if (member.subscription.group !== undefined) return; // MQTT 5 §4.8.2: a shared subscription gets no retained messages
    for (const [topic, { message, until }] of retained) {
      if (until < performance.now()) retained.delete(topic);
      else if (matches(member.subscription.filter, topic)) void offer(incoming(message, true), [member], onProblem);
    }
  };
  return { connect: (options = {}) => connectTo({ members, accept, replay }, options) };
}

interface Hub {
  readonly members: Set<Member>;
  accept(message: OutgoingMessage, onProblem: BrokerOptions['onProblem']): PublishResult;
  replay(member: Member, onProblem: BrokerOptions['onProblem']): void;
}

/** One connection to the hub. `drop` publishes its last will; `close` does not. */
function connectTo(hub: Hub, { lastWill, onProblem }: BrokerOptions): MemoryBroker {
  const owner = {};
  const listeners = new Set<(isConnected: boolean) => void>();
  let isConnected = true;
  const leave = (will: LastWill | undefined): void => {
    if (!isConnected) return;
    isConnected = false;
    for (const member of [...hub.members]) if (member.owner === owner) hub.members.delete(member);
    if (will !== undefined) hub.accept(will, onProblem);
    for (const listener of listeners) listener(false);
  };
  return {
    features: { redelivers: true, retains: 'broker', lastWill: true, reportsNoSubscribers: true },
    get isConnected() {
      return isConnected;
    },
    publish: async (message) => {
      if (!isConnected) throw new BrokerError('the broker connection is closed');
      const problem = publishProblem(message);
      if (problem !== undefined) throw new BrokerError(problem);
      return hub.accept(message, onProblem);
    },
    subscribe: async (subscription) => {
      if (!isConnected) throw new BrokerError('the broker connection is closed');
      if (!isFilter(subscription.filter)) throw new BrokerError(`${subscription.filter.slice(0, 100)} is not a topic filter`);
      const member: Member = { subscription, owner };
      hub.members.add(member);
      hub.replay(member, onProblem);
      return async () => {
        hub.members.delete(member);
      };
    },
    onConnectionChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => leave(undefined),
    drop: () => leave(lastWill),
  };
}

function incoming({ retain: _, expiryMs: __, qos: ___, properties, ...message }: OutgoingMessage, isRetained: boolean): ReceivedMessage {
  return { ...message, properties: properties ?? {}, isRetained };
}
