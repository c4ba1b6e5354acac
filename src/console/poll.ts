import { useEffect } from 'preact/hooks';

/** Runs a function now and repeatedly while the page is visible. Runs never overlap. */
export function usePolling(run: () => Promise<void>, everyMs: number, again: readonly unknown[] = []): void {
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    const turn = async (): Promise<void> => {
      if (!document.hidden) await run().catch(() => undefined); // the function reports its own errors
      if (!isOver) timer = window.setTimeout(turn, everyMs);
    };
    void turn();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [everyMs, ...again]);
}
