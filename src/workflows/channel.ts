/** Outputs of nodes that run side by side, in the order in which they come. */
export interface Channel<T> extends AsyncIterable<T> {
  /** Resolves when the reader has taken it and come back for more: it is in the log then, if not yet on disk. */
  send(value: T): Promise<void>;
  end(): void;
}

export function channel<T>(): Channel<T> {
  const waiting: { readonly value: T; readonly taken: () => void }[] = [];
  let wake: (() => void) | undefined;
  let isOver = false;
  const news = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    send: (value) =>
      new Promise((taken) => {
        waiting.push({ value, taken });
        news();
      }),
    end: () => {
      isOver = true;
      news();
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
