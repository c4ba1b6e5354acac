import type { Accepted, Broker, BrokerOptions, Incoming, LastWill, Outgoing, Subscription } from '../broker.ts';
import { BrokerError } from '../broker.ts';
import { isFilter, matches, unsendable } from '../topics.ts';

/** A broker inside one process: nothing to install, gone with the process. */
export interface MemoryHub {
  connect(options?: BrokerOptions): MemoryBroker;
}

export interface MemoryBroker extends Broker {
  /** As a process that dies: the last will is published. */
  drop(): void;
}

interface Member {
  readonly subscription: Subscription;
  readonly owner: object;
}

interface Kept {
  readonly message: Outgoing;
  readonly until: number;
}

/** How often a message that could not be taken is offered, at once and to the next of its group. */
const OFFERS_MAX = 5;

export function memoryHub(): MemoryHub {
  const members = new Set<Member>();
  const retained = new Map<string, Kept>();
  const turns = new Map<string, number>();

  const offer = async (message: Incoming, [first, ...rest]: readonly Member[], onTrouble: BrokerOptions['onTrouble']): Promise<void> => {
    if (first === undefined) return;
    await undefined; // never inside the publisher's own call
    for (let attempt = 0; attempt < OFFERS_MAX; attempt += 1) {
      const member = [first, ...rest][attempt % (rest.length + 1)] ?? first;
      if (!members.has(member)) continue;
      try {
        await member.subscription.take(message);
        return;
      } catch (thrown) {
        onTrouble?.(`a message on ${message.topic} could not be taken`, thrown);
      }
    }
  };
  const deliver = (message: Outgoing, onTrouble: BrokerOptions['onTrouble']): boolean => {
    const groups = new Map<string, Member[]>();
    let heard = false;
    for (const member of [...members].filter(({ subscription }) => matches(subscription.filter, message.topic))) {
      heard = true;
      const { group, filter } = member.subscription;
      if (group === undefined) void offer(incoming(message, false), [member], onTrouble);
      else groups.set(`${group} ${filter}`, [...(groups.get(`${group} ${filter}`) ?? []), member]);
    }
    for (const [key, sharers] of groups) {
      const turn = (turns.get(key) ?? 0) % sharers.length;
      turns.set(key, turn + 1);
      void offer(incoming(message, false), [...sharers.slice(turn), ...sharers.slice(0, turn)], onTrouble);
    }
    return heard;
  };
  const take = (message: Outgoing, onTrouble: BrokerOptions['onTrouble']): Accepted => {
    if (message.retain === true) {
      if (message.payload.length === 0) retained.delete(message.topic);
      else retained.set(message.topic, { message, until: performance.now() + (message.expiryMs ?? Number.POSITIVE_INFINITY) });
    }
    return { heard: deliver(message, onTrouble) };
  };
  const replay = (member: Member, onTrouble: BrokerOptions['onTrouble']): void => {
    if (member.subscription.group !== undefined) return; // MQTT 5 §4.8.2: a shared subscription gets no retained messages
    for (const [topic, { message, until }] of retained) {
      if (until < performance.now()) retained.delete(topic);
      else if (matches(member.subscription.filter, topic)) void offer(incoming(message, true), [member], onTrouble);
    }
  };
  return { connect: (options = {}) => connectTo({ members, take, replay }, options) };
}

interface Hub {
  readonly members: Set<Member>;
  take(message: Outgoing, onTrouble: BrokerOptions['onTrouble']): Accepted;
  replay(member: Member, onTrouble: BrokerOptions['onTrouble']): void;
}

function connectTo(hub: Hub, { lastWill, onTrouble }: BrokerOptions): MemoryBroker {
  const owner = {};
  const listeners = new Set<(isConnected: boolean) => void>();
  let isConnected = true;
  const leave = (will: LastWill | undefined): void => {
    if (!isConnected) return;
    isConnected = false;
    for (const member of [...hub.members]) if (member.owner === owner) hub.members.delete(member);
    if (will !== undefined) hub.take(will, onTrouble);
    for (const listener of listeners) listener(false);
  };
  return {
    features: { redelivers: true, retains: 'broker', lastWill: true, tellsUnheard: true },
    get isConnected() {
      return isConnected;
    },
    publish: async (message) => {
      if (!isConnected) throw new BrokerError('the broker connection is closed');
      const problem = unsendable(message);
      if (problem !== undefined) throw new BrokerError(problem);
      return hub.take(message, onTrouble);
    },
    subscribe: async (subscription) => {
      if (!isConnected) throw new BrokerError('the broker connection is closed');
      if (!isFilter(subscription.filter)) throw new BrokerError(`${subscription.filter.slice(0, 100)} is not a topic filter`);
      const member: Member = { subscription, owner };
      hub.members.add(member);
      hub.replay(member, onTrouble);
      return async () => {
        hub.members.delete(member);
      };
    },
    onConnection: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => leave(undefined),
    drop: () => leave(lastWill),
  };
}

function incoming({ retain: _, expiryMs: __, assured: ___, properties, ...message }: Outgoing, isRetained: boolean): Incoming {
  return { ...message, properties: properties ?? {}, isRetained };
}
