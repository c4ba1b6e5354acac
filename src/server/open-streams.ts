import type { HttpResponse, Outflow } from '#bindings';
import type { Timers } from '#engine';
import { systemTimers } from '#engine';

/** The streams that are being read: to be counted, and to be ended when the server stops. */
export interface OpenStreams {
  readonly open: number;
  /** `isStillValid` is asked every few seconds; it is over when that says no. */
  track(answer: HttpResponse, isStillValid?: () => boolean): void;
  /** Each says this yet and is over. */
  finishAll(text: string): void;
}

const CHECK_MS = 2000;
/** For people who look. A client that comes back is told properly, with 401. */
const NOT_VALID = ': the credential is not valid any more\n\n';

export function trackOpenStreams(timers: Timers = systemTimers): OpenStreams {
  const open = new Set<Outflow>();
  const checked = new Map<Outflow, () => boolean>();
  let isWatching = false;
  const forget = (flow: Outflow): void => {
    open.delete(flow);
    checked.delete(flow);
  };
  const check = (): void => {
    for (const [flow, isStillValid] of checked) if (!isTrue(isStillValid)) flow.finish(NOT_VALID);
    isWatching = false;
    if (checked.size > 0) watch();
  };
  const watch = (): void => {
    if (isWatching) return;
    isWatching = true;
    timers.later(CHECK_MS, check);
  };
  return {
    get open() {
      return open.size;
    },
    track: ({ body }, isStillValid) => {
      if (body === null || typeof body === 'string') return;
      open.add(body);
      if (isStillValid !== undefined) {
        checked.set(body, isStillValid);
        watch();
      }
      body.onEnd(forget);
    },
    finishAll: (text) => {
      for (const flow of open) flow.finish(text);
    },
  };
}

/** Where nobody can tell, as with keys that can't be read, new calls are not let in either. */
function isTrue(ask: () => boolean): boolean {
  try {
    return ask();
  } catch {
    return false;
  }
}
