import type { Broker } from './broker.ts';
import type { Stop } from './grammars/grammar.ts';

/** Of several processes on one store, one at a time receives the requests to an agent. */
export interface RequestTurns {
  /** Whether it is this process now. Asked several times a second. */
  isMine(): boolean;
  /** Called now and then while it is another process: that one may lack the agent, and hands over then. */
  want?(): Promise<void>;
  /** Whether no other process is there that could be next. */
  isAlone(): boolean;
  /** Opens a connection for the agent's requests. It has the same client id, and an MQTT broker the same session, in every process. */
  connect(): Promise<Broker>;
}

/** The requests to an agent while this process receives them. */
export interface Taken {
  /** Says that the agent leaves. Called before the connection is closed, and only if nobody is next. */
  readonly sayOffline: Stop;
  /** Called after the connection was closed. */
  readonly stop: Stop;
}

/** What `takeTurns` needs. */
export interface TurnTaking {
  readonly turns: RequestTurns;
  /** Receives requests on this connection. */
  take(broker: Broker): Promise<Taken>;
  report(what: string, cause?: unknown): void;
}

const LOOK_MS = 200;
/** A connection that is away for this long is replaced. The broker may have given its client id to another process. */
const AWAY_MS_MAX = 2000;
const RETRY_MS = 1000;
const WANT_MS = 2000;
/** Requests that are being handled when the turn ends get this long. The broker sends what is left to the next process. */
const HANDLED_MS_MAX = 1000;

/** Receives requests whenever it is this process's turn. Resolves when that is so for the first time, or it is not its turn. */
export async function takeTurns(taking: TurnTaking): Promise<Stop> {
  const { turns, report } = taking;
  const stopping = new AbortController();
  let current: Turn | undefined;
  let hasFailed = false;
  let wantAt = 0;
  const look = async (): Promise<number> => {
    const isMine = turns.isMine();
    if (current !== undefined && (!isMine || current.isAway())) {
      const ended = current;
      current = undefined;
      await ended.end();
    }
    if (!isMine && performance.now() > wantAt) {
      wantAt = performance.now() + WANT_MS;
      await turns.want?.();
    }
    if (!isMine || current !== undefined) return LOOK_MS;
    try {
      current = await beginTurn(taking);
      hasFailed = false;
      return LOOK_MS;
    } catch (thrown) {
      if (!hasFailed) report('this process can’t receive requests over the broker yet', thrown);
      hasFailed = true;
      return RETRY_MS;
    }
  };
  const first = await look();
  const following = (async () => {
    for (let ms = first; await pause(ms, stopping.signal); ms = await look());
  })();
  return async () => {
    stopping.abort();
    await following;
    if (turns.isAlone()) await current?.sayOffline();
    await current?.end();
  };
}

interface Turn {
  /** Whether the connection is gone for so long that another one is needed. */
  isAway(): boolean;
  readonly sayOffline: Stop;
  readonly end: Stop;
}

async function beginTurn({ turns, take, report }: TurnTaking): Promise<Turn> {
  const { broker, settle } = settling(await turns.connect());
  let seenAt = performance.now();
  const close = async (): Promise<void> => {
    await settle();
    // Without unsubscribing: an MQTT broker keeps requests for the next process.
    await broker.close().catch((thrown: unknown) => report('a connection to the broker was not closed', thrown));
  };
  try {
    const { sayOffline, stop } = await take(broker);
    return {
      isAway: () => {
        if (broker.isConnected) seenAt = performance.now();
        return performance.now() - seenAt > AWAY_MS_MAX;
      },
      sayOffline,
      end: async () => {
        await close();
        await stop().catch(() => undefined); // there is nothing to unsubscribe from
      },
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** The connection, and what waits for the requests that it has received. Later ones are left to the next process, if the broker sends them again. */
function settling(broker: Broker): { readonly broker: Broker; settle(): Promise<void> } {
  const handling = new Set<Promise<unknown>>();
  let isLeaving = false;
  return {
    broker: {
      features: broker.features,
      get isConnected() {
        return broker.isConnected;
      },
      publish: (message) => broker.publish(message),
      subscribe: (subscription) =>
        broker.subscribe({
          ...subscription,
          handle: async (message) => {
            if (isLeaving && broker.features.redelivers) return await new Promise<never>(() => {});
            const handled = Promise.resolve(subscription.handle(message));
            handling.add(handled);
            await handled.finally(() => handling.delete(handled));
          },
        }),
      onConnectionChange: (listener) => broker.onConnectionChange(listener),
      close: () => broker.close(),
    },
    settle: async () => {
      isLeaving = true;
      const late = new AbortController();
      await Promise.race([Promise.allSettled(handling), pause(HANDLED_MS_MAX, late.signal)]);
      late.abort();
    },
  };
}

/** False: the signal came first. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  return await new Promise((resolve) => {
    const timer = setTimeout(() => done(true), ms);
    const stop = (): void => done(false);
    const done = (isOver: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve(isOver);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
