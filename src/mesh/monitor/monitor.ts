import type { AdminMesh, Clock } from '#protocol';
import { systemClock } from '#protocol';
import type { Broker, OutgoingMessage, ReceivedMessage } from '../broker.ts';
import type { Grammar, Stop } from '../grammars/grammar.ts';
import { samGrammar } from '../grammars/sam/grammar.ts';
import type { Calls } from './calls.ts';
import { createCalls } from './calls.ts';

/** Who calls whom on a mesh, for people who look. */
export interface MeshMonitor {
  /** The same broker. Given to `joinMesh`, the calls that go through it are noticed. */
  observe(broker: Broker): Broker;
  calls: Calls['all'];
  readonly hears: AdminMesh['hears'];
  /** Somebody looks: for a while the calls of others are listened to as well. */
  listen(): void;
  close: Stop;
}

export interface MonitorOptions {
  readonly namespace: string;
  readonly grammar?: Grammar;
  /**
   * Another connection, for listening: on one of its own nothing that is heard can be taken for a request to answer. Absent: the calls of
   * others are not listened to.
   */
  readonly connect?: () => Promise<Broker>;
  /** Without a look for so long it listens no more. */
  readonly listenMs?: number;
  readonly clock?: Clock;
  report?(what: string, cause?: unknown): void;
}

const LISTEN_MS = 15_000;

export function monitorMesh(options: MonitorOptions): MeshMonitor {
  const { namespace, grammar = samGrammar, listenMs = LISTEN_MS, clock = systemClock } = options;
  const calls = createCalls(clock);
  const spoken = grammar.calls;
  const note = (message: ReceivedMessage): void => {
    const heard = spoken?.overhear(message, namespace);
    if (heard !== undefined) calls.take(heard);
  };
  const ear = createEar(options, { note, topics: spoken?.topics(namespace) ?? [] });
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    observe: (broker) => (spoken === undefined ? broker : noticed(broker, note)),
    calls: calls.all,
    get hears() {
      return spoken === undefined ? 'none' : ear.isOpen ? 'all' : 'own';
    },
    listen: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void ear.close(), listenMs);
      timer.unref?.();
      ear.open();
    },
    close: async () => {
      clearTimeout(timer);
      await ear.close();
    },
  };
}

interface Ear {
  readonly isOpen: boolean;
  open(): void;
  close: Stop;
}

/** Opened and closed in turn, whoever asks meanwhile. */
function createEar(
  { connect, report }: MonitorOptions,
  { note, topics }: { readonly note: (message: ReceivedMessage) => void; readonly topics: readonly string[] },
): Ear {
  let own: Broker | undefined;
  let isWanted = false;
  let isRefused = false;
  let turn: Promise<void> = Promise.resolve();
  const settle = async (): Promise<void> => {
    if (isWanted && own === undefined && connect !== undefined && topics.length > 0 && !isRefused) {
      const made = await connect();
      own = made;
      for (const filter of topics) await made.subscribe({ filter, handle: note });
    } else if (!isWanted && own !== undefined) {
      const gone = own;
      own = undefined;
      await gone.close();
    }
  };
  const next = (): Promise<void> => {
    turn = turn.then(settle).catch(async (thrown: unknown) => {
      isRefused = true; // a broker that does not let us listen is not asked again and again
      report?.('the calls of others on the mesh can’t be listened to; those of this node are still seen', thrown);
      await own?.close().catch(() => undefined);
      own = undefined;
    });
    return turn;
  };
  return {
    get isOpen() {
      return own?.isConnected === true;
    },
    open: () => {
      isWanted = true;
      void next();
    },
    close: () => {
      isWanted = false;
      return next();
    },
  };
}

/** What is published and what is taken passes by `note`; nothing else is different. */
function noticed(broker: Broker, note: (message: ReceivedMessage) => void): Broker {
  return {
    features: broker.features,
    get isConnected() {
      return broker.isConnected;
    },
    publish: (message) => {
      note(asIncoming(message));
      return broker.publish(message);
    },
    subscribe: (subscription) =>
      broker.subscribe({
        ...subscription,
        handle: (message) => {
          if (!message.isRetained) note(message);
          return subscription.handle(message);
        },
      }),
    onConnectionChange: (listener) => broker.onConnectionChange(listener),
    close: () => broker.close(),
  };
}

function asIncoming(message: OutgoingMessage): ReceivedMessage {
  return { ...message, properties: message.properties ?? {}, isRetained: false };
}
