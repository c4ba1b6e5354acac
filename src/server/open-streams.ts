import type { Timers } from '#engine';
import { systemTimers } from '#engine';

/** A stream that can be ended from here: a `ResponseStream`, or a call over gRPC. */
export interface EndableStream {
  /** The pieces are one document. Such a stream is not counted, and not ended. */
  readonly isDocument?: boolean;
  /** Sends a last text, if the stream is one of text, and ends. */
  finish(text: string, why: 'shutdown' | 'revoked'): void;
  /** Calls the listener once when the stream has ended. */
  onEnd(listener: (stream: EndableStream) => void): void;
}

/** The streams that clients are reading. They are counted, and ended at shutdown or when their credential is revoked. */
export interface OpenStreams {
  readonly count: number;
  /** `isStillValid` is called every two seconds; the stream ends when it returns false. */
  track(stream: EndableStream, isStillValid?: () => boolean): void;
  /** Sends a last text on each stream and ends it. */
  finishAll(text: string): void;
}

const CHECK_MS = 2000;
/** A comment for people who read the stream. A client that reconnects gets a 401. */
const NOT_VALID = ': the credential is not valid any more\n\n';

/** Starts without streams. One timer checks all credentials. */
export function trackOpenStreams(timers: Timers = systemTimers): OpenStreams {
  const open = new Set<EndableStream>();
  const checked = new Map<EndableStream, () => boolean>();
  let isWatching = false;
  const forget = (stream: EndableStream): void => {
    open.delete(stream);
    checked.delete(stream);
  };
  const check = (): void => {
    for (const [stream, isStillValid] of checked) if (!isTrue(isStillValid)) stream.finish(NOT_VALID, 'revoked');
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
      for (const stream of open) stream.finish(text, 'shutdown');
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
