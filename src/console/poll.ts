import { useEffect } from 'preact/hooks';

/** Runs now and then again, as long as the page is looked at; what is under way is never run twice. */
export function usePolling(run: () => Promise<void>, everyMs: number, again: readonly unknown[] = []): void {
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    const turn = async (): Promise<void> => {
      if (!document.hidden) await run().catch(() => undefined); // what runs says itself what went wrong
      if (!isOver) timer = window.setTimeout(turn, everyMs);
    };
    void turn();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [everyMs, ...again]);
}
