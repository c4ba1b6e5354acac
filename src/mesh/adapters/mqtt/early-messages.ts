/** Messages of a session that arrive before this process has subscribed: the broker remembers the subscriptions of its predecessor. */
export interface EarlyMessages {
  /** Waits for the next subscription, and calls `again` then. Undefined: nobody wants the message. */
  hold(again: () => Promise<void> | void): Promise<void> | undefined;
  /** Something was subscribed to. */
  subscribed(): void;
}

/** A process subscribes right after it has connected. */
const EARLY_MS = 5000;

export function holdEarlyMessages(): EarlyMessages {
  let next = Promise.withResolvers<void>();
  let isOver = false;
  const subscribed = (): void => {
    next.resolve();
    next = Promise.withResolvers<void>();
  };
  setTimeout(() => {
    isOver = true;
    subscribed();
  }, EARLY_MS).unref();
  return {
    hold: (again) => (isOver ? undefined : next.promise.then(again)),
    subscribed,
  };
}
