/** The outputs of concurrent nodes, in the order of their arrival. */
export interface OutputChannel<T> extends AsyncIterable<T> {
  /**
   * Resolves when the reader asks for the next value: then this one is in the log, but not yet on disk.
   */
  send(value: T): Promise<void>;
  end(): void;
}

/** A channel without values. */
export function createOutputChannel<T>(): OutputChannel<T> {
  const waiting: { readonly value: T; readonly taken: () => void }[] = [];
  let wake: (() => void) | undefined;
  let isOver = false;
  const notify = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    send: (value) =>
      new Promise((taken) => {
        waiting.push({ value, taken });
        notify();
      }),
    end: () => {
      isOver = true;
      notify();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          yield next.value;
          next.taken();
        } else if (isOver) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
