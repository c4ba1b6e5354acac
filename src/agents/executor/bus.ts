import type { EventListener, FinishedListener, SdkEvent, SdkEventBus } from './sdk.ts';

type Name = 'event' | 'finished';
type Listener = EventListener & FinishedListener;

/** The bus on which an executor publishes, and its reader: events in order, until it is closed. */
export class ExecutorBus implements SdkEventBus {
  readonly #events: SdkEvent[] = [];
  readonly #listeners: Readonly<Record<Name, Map<Listener, { readonly isOnce: boolean }>>> = { event: new Map(), finished: new Map() };
  #taken = 0;
  #isClosed = false;
  #wake: () => void = () => {};

  publish(event: SdkEvent): void {
    if (this.#isClosed) return;
    this.#events.push(event);
    this.#tell('event', event);
    this.#wake();
  }

  finished(): void {
    this.close();
    this.#tell('finished');
  }

  /** Accepts no more events. Events that were published before are still delivered. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** The next event, or undefined when the bus is closed and empty. */
  async next(): Promise<SdkEvent | undefined> {
    while (this.#taken === this.#events.length && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const event = this.#events[this.#taken];
    this.#taken += 1;
    // Removed all at once: removing them from the front one by one would move the rest each time.
    if (this.#taken >= this.#events.length) {
      this.#events.length = 0;
      this.#taken = 0;
    }
    return event;
  }

  on(name: 'event', listener: EventListener): this;
  on(name: 'finished', listener: FinishedListener): this;
  on(name: Name, listener: Listener): this {
    this.#listeners[name].set(listener, { isOnce: false });
    return this;
  }

  once(name: 'event', listener: EventListener): this;
  once(name: 'finished', listener: FinishedListener): this;
  once(name: Name, listener: Listener): this {
    this.#listeners[name].set(listener, { isOnce: true });
    return this;
  }

  off(name: 'event', listener: EventListener): this;
  off(name: 'finished', listener: FinishedListener): this;
  off(name: Name, listener: Listener): this {
    this.#listeners[name].delete(listener);
    return this;
  }

  removeAllListeners(name?: Name): this {
    if (name !== 'finished') this.#listeners.event.clear();
    if (name !== 'event') this.#listeners.finished.clear();
    return this;
  }

  #tell(name: 'finished'): void;
  #tell(name: 'event', event: SdkEvent): void;
  #tell(name: Name, event?: SdkEvent): void {
    for (const [listener, { isOnce }] of [...this.#listeners[name]]) {
      if (isOnce) this.#listeners[name].delete(listener);
      (listener as (event?: SdkEvent) => void)(event);
    }
  }
}
