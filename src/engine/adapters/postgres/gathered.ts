/** Calls in one query. */
const GATHERED_MAX = 256;

interface Call<K, V> {
  readonly key: K;
  readonly resolve: (value: V) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Looks several keys up in one query. A call that finds no query under way starts one at once; those that come meanwhile share the next one. So
 * a single call waits for nobody, and a busy process asks no more often than the database answers. `load` returns one value for each key, in
 * their order.
 */
export function gathered<K, V>(load: (keys: readonly K[]) => Promise<readonly V[]>): (key: K) => Promise<V> {
  let waiting: Call<K, V>[] = [];
  let isLoading = false;

  const answer = async (calls: readonly Call<K, V>[]): Promise<void> => {
    try {
      const values = await load(calls.map(({ key }) => key));
      for (const [at, value] of values.entries()) calls[at]?.resolve(value);
    } catch (thrown) {
      for (const call of calls) call.reject(thrown);
    }
  };
  const run = async (): Promise<void> => {
    isLoading = true;
    while (waiting.length > 0) {
      const calls = waiting.slice(0, GATHERED_MAX);
      waiting = waiting.slice(GATHERED_MAX);
      await answer(calls);
    }
    isLoading = false;
  };
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (!isLoading) void run();
    });
}
