import type { ResponseStream } from '#bindings';
import type { Timers } from '#engine';
import { systemTimers } from '#engine';

/** The streams that clients are reading. They are counted, and ended at shutdown or when their credential is revoked. */
export interface OpenStreams {
  readonly count: number;
  /** `isStillValid` is called every two seconds; the stream ends when it returns false. */
  track(stream: ResponseStream, isStillValid?: () => boolean): void;
  /** Sends a last text on each stream and ends it. */
  finishAll(text: string): void;
}

const CHECK_MS = 2000;
/** A comment for people who read the stream. A client that reconnects gets a 401. */
const NOT_VALID = ': the credential is not valid any more\n\n';

/** Starts without streams. One timer checks all credentials. */
export function trackOpenStreams(timers: Timers = systemTimers): OpenStreams {
  const open = new Set<ResponseStream>();
  const checked = new Map<ResponseStream, () => boolean>();
  let isWatching = false;
  const forget = (stream: ResponseStream): void => {
    open.delete(stream);
    checked.delete(stream);
  };
  const check = (): void => {
    for (const [stream, isStillValid] of checked) if (!isTrue(isStillValid)) stream.finish(NOT_VALID);
    isWatching = false;
    if (checked.size > 0) watch();
  };
  const watch = (): void => {
    if (isWatching) return;
    isWatching = true;
    timers.later(CHECK_MS, check);
  };
  return {
    get count() {
      return open.size;
    },
    track: (stream, isStillValid) => {
      if (stream.isDocument === true) return;
      open.add(stream);
      if (isStillValid !== undefined) {
        checked.set(stream, isStillValid);
        watch();
      }
      stream.onEnd(forget);
    },
    finishAll: (text) => {
      for (const stream of open) stream.finish(text);
    },
  };
}

/** A check that throws, for example because the keys can't be read, counts as false: new calls would be refused too. */
function isTrue(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
