import { CallAborted } from '#bindings';
import { A2AError } from '#protocol';

/** Waits, or rejects as soon as the caller aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
    });
  }
  if (signal.aborted)
    throw new A2AError('UNAVAILABLE', 'the call was aborted', { cause: new CallAborted('the caller left', { cause: signal.reason }) });
}
