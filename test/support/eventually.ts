const PAUSE_MS = 10;

/**
 * Repeats the check until it neither returns false nor throws, and returns how many milliseconds that took. The one way for tests to wait.
 * The deadline is generous, for busy machines: a test that passes never waits for it.
 */
export async function eventually(check: () => unknown, withinMs = 60_000): Promise<number> {
  const start = performance.now();
  for (;;) {
    const failure = await failureOf(check);
    if (failure === undefined) return performance.now() - start;
    if (performance.now() - start > withinMs) throw new Error(`not true within ${withinMs} ms: ${check}`, { cause: failure });
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Undefined if the check passes. */
async function failureOf(check: () => unknown): Promise<Error | undefined> {
  try {
    return (await check()) === false ? new Error('the check returned false') : undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}
