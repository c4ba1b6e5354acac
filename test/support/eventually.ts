/** Asks until it is so, and says how long that took. The deadline is for machines that do other things as well. */
export async function eventually(isSo: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<number> {
  const began = performance.now();
  while (!(await isSo())) {
    if (performance.now() - began > withinMs) throw new Error(`not so within ${withinMs} ms: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - began;
}
