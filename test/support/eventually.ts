/**
 * Repeats a check until it passes: until it returns without throwing, and not `false`. Fails with the check's last error. The limit is long,
 * because the machine may be busy; a passing check returns at once.
 */
export async function eventually(check: () => unknown, withinMs = 30_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const failure = await failureOf(check);
    if (failure === undefined) return;
    if (performance.now() > deadline) throw failure.error;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function failureOf(check: () => unknown): Promise<{ readonly error: unknown } | undefined> {
  try {
    return (await check()) === false ? { error: new Error(`the condition is still false: ${check}`) } : undefined;
  } catch (error) {
    return { error };
  }
}
