import type { DiscoveryEvent, Grammar, MeshContext, Stop } from '../grammars/grammar.ts';

interface DiscoveryListening {
  /** Subscribes to the discovery topics. */
  readonly subscribe: () => Promise<Stop>;
}

interface ListeningRepeatedly extends DiscoveryListening {
  /** Drops peers without a recent card. */
  readonly sweep: () => void;
  readonly sweepMs: number;
}

/** For grammars in which participants repeat their cards. */
export async function listenRepeatedly({ subscribe, sweep, sweepMs }: ListeningRepeatedly): Promise<Stop> {
  const stop = await subscribe();
  const timer = setInterval(sweep, sweepMs);
  timer.unref?.();
  return async () => {
    clearInterval(timer);
    await stop();
  };
}

interface ListeningToRetained extends DiscoveryListening {
  readonly ticks: () => number;
  /** The time in which a participant must be seen after a reconnect. */
  readonly graceMs: number;
  readonly dropSilent: (since: number) => void;
}

/**
 * For grammars in which the broker retains the cards and delivers them with each subscription. After a
 * reconnect it subscribes again, because the broker may have lost cards. A participant that does not
 * appear again within the grace time is dropped.
 */
export async function listenToRetained(
  { broker, report }: MeshContext,
  { subscribe, ticks, graceMs, dropSilent }: ListeningToRetained,
): Promise<Stop> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (): Promise<Stop> => {
    const since = ticks();
    clearTimeout(timer);
    timer = setTimeout(() => dropSilent(since), graceMs);
    timer.unref?.();
    return subscribe();
  };
  let stop = start();
  await stop;
  const stopWatching = broker.onConnectionChange((isConnected) => {
    if (!isConnected) return;
    stop = stop.then((end) => end()).then(start);
    stop.catch((thrown: unknown) => report('the subscription to retained cards could not be renewed', thrown));
  });
  return async () => {
    clearTimeout(timer);
    stopWatching();
    await (await stop)();
  };
}

/** Subscribes to the cards of all participants. Returns a function that stops it. */
export async function subscribeToDiscovery(grammar: Grammar, mesh: MeshContext, onEvent: (event: DiscoveryEvent) => void): Promise<Stop> {
  const stops: Stop[] = [];
  for (const filter of grammar.discoveryFilters(mesh)) {
    const stop = await mesh.broker.subscribe({
      filter,
      handle: (message) => {
        const event = grammar.readDiscovery(message, mesh);
        if (event === undefined) mesh.counts.ignored += 1;
        else onEvent(event);
      },
    });
    stops.push(stop);
  }
  return async () => void (await Promise.all(stops.map((stop) => stop())));
}
