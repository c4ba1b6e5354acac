/**
 * A queue: one side pushes values, the other reads them. The pushing side may wait for room, so that
 * the queue stays bounded.
 */
export interface PushQueue<Value> extends AsyncIterable<Value> {
  push(value: Value): void;
  /** Resolves when fewer than `max` values are in the queue. */
  hasRoom(max: number): Promise<void>;
  /** Closes the queue. With a reason, the reading side throws it after the last value. */
  end(reason?: unknown): void;
}

/** An empty queue. */
export function createPushQueue<Value>(): PushQueue<Value> {
  const values: (Value | undefined)[] = [];
  let head = 0;
  let over: { readonly reason: unknown } | undefined;
  let wakeTaker: (() => void) | undefined;
  let wakePushers: (() => void)[] = [];
  const size = (): number => values.length - head;
  const next = async (): Promise<IteratorResult<Value>> => {
    while (size() === 0) {
      if (over !== undefined) {
        if (over.reason !== undefined) throw over.reason;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        wakeTaker = resolve;
      });
    }
    const value = values[head] as Value;
    values[head] = undefined; // releases the value for garbage collection
    head += 1;
    if (head > 1024 && head * 2 > values.length) {
      values.splice(0, head);
      head = 0;
    }
    const woken = wakePushers;
    wakePushers = [];
    for (const wake of woken) wake();
    return { done: false, value };
  };
  return {
    push: (value) => {
      if (over !== undefined) return;
      values.push(value);
      wakeTaker?.();
    },
    hasRoom: async (max) => {
      while (size() >= max && over === undefined) await new Promise<void>((resolve) => wakePushers.push(resolve));
    },
    end: (reason) => {
      over ??= { reason };
      wakeTaker?.();
      for (const wake of wakePushers) wake();
      wakePushers = [];
    },
    [Symbol.asyncIterator]: () => ({
      next,
      return: async () => {
        over ??= { reason: undefined };
        for (const wake of wakePushers) wake();
        return { done: true, value: undefined };
      },
    }),
  };
}

/** Options of `lookAhead`. */
export interface LookingAhead<Value> {
  /** The maximum number of values in the queue. */
  readonly max: number;
  /** The queue. Others may push values into it too. */
  readonly flow?: PushQueue<Value>;
  /** Ends the source. A generator that waits for its next value can't be stopped before it has it. */
  leave(): Promise<void>;
}

/**
 * The same values, read a little ahead of the consumer. So the withdrawal of a question is noticed
 * while the question waits for its answer. Beyond the maximum the source waits.
 */
export async function* lookAhead<Value>(
  source: AsyncIterable<Value>,
  { max, leave, flow = createPushQueue() }: LookingAhead<Value>,
): AsyncGenerator<Value> {
  const iterator = source[Symbol.asyncIterator]();
  let isLeft = false;
  const pump = async (): Promise<void> => {
    try {
      for (let step = await iterator.next(); step.done !== true && !isLeft; step = await iterator.next()) {
        flow.push(step.value);
        await flow.hasRoom(max);
        if (isLeft) break;
      }
      flow.end();
    } catch (thrown) {
      flow.end(thrown);
    }
  };
  const pumping = pump();
  try {
    yield* flow;
  } finally {
    isLeft = true;
    flow.end();
    await leave();
    await iterator.return?.();
    await pumping;
  }
}
