import type { AdminMesh, Clock } from '#protocol';
import { systemClock } from '#protocol';
import type { Broker, OutgoingMessage, ReceivedMessage } from '../broker.ts';
import type { Grammar, Stop } from '../grammars/grammar.ts';
import { samGrammar } from '../grammars/sam/grammar.ts';
import type { CallLog } from './calls.ts';
import { createCallLog } from './calls.ts';

/** Records who calls whom on a mesh, for operators. */
export interface MeshMonitor {
  /** Returns the same broker, with its calls recorded. Give it to `joinMesh`. */
  observe(broker: Broker): Broker;
  /** The recorded calls, the newest first. */
  calls: CallLog['all'];
  /** Which calls are recorded now: `all` of the mesh, this process's `own`, or `none`. */
  readonly hears: AdminMesh['hears'];
  /** Also records the calls of other processes, for `listenMs` after the last call of this function. */
  listen(): void;
  close: Stop;
}

/** Options of `monitorMesh`. */
export interface MonitorOptions {
  /** The namespace whose calls are recorded. */
  readonly namespace: string;
  /** How messages of the mesh are written. Default: that of Solace Agent Mesh. */
  readonly grammar?: Grammar;
  /**
   * Opens another connection for listening to the calls of other processes. On a connection of its own,
   * an observed request can't be mistaken for one to respond to. Absent: only calls of this process are
   * recorded.
   */
  readonly connect?: () => Promise<Broker>;
  /** Listening ends this long after the last `listen()`. */
  readonly listenMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Called with problems of the listening connection. */
  report?(what: string, cause?: unknown): void;
}

const LISTEN_MS = 15_000;

/**
 * Records the calls on a mesh. `meshView` shows them to operators.
 *
 * ```ts
 * const monitor = monitorMesh({ namespace: 'production' });
 * const mesh = joinMesh({ broker: monitor.observe(broker), namespace: 'production' });
 * ```
 */
export function monitorMesh(options: MonitorOptions): MeshMonitor {
  const { namespace, grammar = samGrammar, listenMs = LISTEN_MS, clock = systemClock } = options;
  const calls = createCallLog(clock);
  const { observation } = grammar;
  const record = (message: ReceivedMessage): void => {
    const call = observation?.read(message, namespace);
    if (call !== undefined) calls.record(call);
  };
  const listener = createListener(options, { record, topics: observation?.topics(namespace) ?? [] });
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    observe: (broker) => (observation === undefined ? broker : observed(broker, record)),
    calls: calls.all,
    get hears() {
      return observation === undefined ? 'none' : listener.isOpen ? 'all' : 'own';
    },
    listen: () => {
      clearTimeout(timer);
      timer = setTimeout(() => void listener.close(), listenMs);
      timer.unref?.();
      listener.open();
    },
    close: async () => {
      clearTimeout(timer);
      await listener.close();
    },
  };
}

interface Listener {
  readonly isOpen: boolean;
  open(): void;
  close: Stop;
}

/** Opens and closes the listening connection, one step after the other. */
function createListener(
  { connect, report }: MonitorOptions,
  { record, topics }: { readonly record: (message: ReceivedMessage) => void; readonly topics: readonly string[] },
): Listener {
  let own: Broker | undefined;
  let isWanted = false;
  let hasFailed = false;
  let previous: Promise<void> = Promise.resolve();
  const apply = async (): Promise<void> => {
    if (isWanted && own === undefined && connect !== undefined && topics.length > 0 && !hasFailed) {
      const opened = await connect();
      // A broker can deliver messages until its connection is closed, when calls of others are no longer recorded.
      const handle = (message: ReceivedMessage): void => (own === opened ? record(message) : undefined);
      try {
        for (const filter of topics) await opened.subscribe({ filter, handle });
        own = opened;
      } catch (thrown) {
        await opened.close().catch(() => undefined);
        throw thrown;
      }
    } else if (!isWanted && own !== undefined) {
      const closing = own;
      own = undefined;
      await closing.close();
    }
  };
  const next = (): Promise<void> => {
    previous = previous.then(apply).catch((thrown: unknown) => {
      hasFailed = true; // a broker that refuses the subscription is not asked again
      report?.('the monitor can’t subscribe to the calls of other processes; it shows those of this process only', thrown);
    });
    return previous;
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

/** The same broker, with a call of `record` for each message that it publishes or receives. */
function observed(broker: Broker, record: (message: ReceivedMessage) => void): Broker {
  return {
    features: broker.features,
    get isConnected() {
      return broker.isConnected;
    },
    publish: (message) => {
      record(asReceived(message));
      return broker.publish(message);
    },
    subscribe: (subscription) =>
      broker.subscribe({
        ...subscription,
        handle: (message) => {
          if (!message.isRetained) record(message);
          return subscription.handle(message);
        },
      }),
    onConnectionChange: (listener) => broker.onConnectionChange(listener),
    close: () => broker.close(),
  };
}

function asReceived(message: OutgoingMessage): ReceivedMessage {
  return { ...message, properties: message.properties ?? {}, isRetained: false };
}
