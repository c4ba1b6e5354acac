/** Rejects when the work takes longer than `ms`. The error names the work that hung. */
export function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} was not done after ${Math.round(ms / 1000)} s`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
