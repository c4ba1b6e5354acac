import type { RequestSettings } from './request.ts';

/** The timeouts of a run. */
export interface RunTimer {
  /** Fires when the turn is stopped or times out. */
  readonly signal: AbortSignal;
  /** The reason of the timeout, after it has happened. */
  readonly why: string | undefined;
  /** Resets the idle timeout. */
  touch(): void;
  /** The run waits for its caller, which does not count against its timeouts. */
  pause(): void;
  stop(): void;
}

/** Starts the timeouts of a run. `stop` must be called at its end. */
export function startWatch(turn: AbortSignal, { timeoutMs, idleMs }: RequestSettings): RunTimer {
  const controller = new AbortController();
  let why: string | undefined;
  let idle: NodeJS.Timeout | undefined;
  let total: NodeJS.Timeout | undefined;
  let left = timeoutMs;
  let since = performance.now();
  const expire = (reason: string) => (): void => {
    why = reason;
    controller.abort(new DOMException(reason, 'TimeoutError'));
  };
  const onTurn = (): void => controller.abort(turn.reason);
  const clear = (): void => {
    clearTimeout(idle);
    clearTimeout(total);
    idle = undefined;
    total = undefined;
  };
  const touch = (): void => {
    if (controller.signal.aborted) return;
    if (idleMs !== undefined) {
      clearTimeout(idle);
      idle = setTimeout(expire(`The agent was silent for ${idleMs} ms.`), idleMs);
    }
    if (left === undefined || total !== undefined) return;
    since = performance.now();
    total = setTimeout(expire(`The agent took more than ${timeoutMs} ms.`), Math.max(0, left));
  };
  if (turn.aborted) onTurn();
  else turn.addEventListener('abort', onTurn, { once: true });
  touch();
  return {
    signal: controller.signal,
    get why() {
      return why;
    },
    touch,
    pause: () => {
      if (total !== undefined && left !== undefined) left -= performance.now() - since;
      clear();
    },
    stop: () => {
      clear();
      turn.removeEventListener('abort', onTurn);
    },
  };
}
