import type { HttpRequest } from '#bindings';
import type { AdminExchange, AdminWire } from '#protocol';
import type { ExchangeRecording, RecordedExchange } from './recording.ts';
import { recordExchange } from './recording.ts';

/** Writes down what goes over the wire, while an operator looks. */
export interface TrafficRecorder extends AdminWire {
  /** Undefined while it is off, which costs one look at a flag. */
  begin(request: HttpRequest): ExchangeRecording | undefined;
}

const EXCHANGES_MAX = 100;
/** Whoever looks asks more often than that. */
const LOOK_MS = 30_000;

export function createTrafficRecorder(lookMs: number = LOOK_MS): TrafficRecorder {
  let isOn = false;
  let last = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** By the number of its last change, so the one that has rested longest is the first. */
  let kept = new Map<RecordedExchange, number>();
  const touch = (exchange: RecordedExchange): void => {
    last += 1;
    kept.delete(exchange);
    kept.set(exchange, last);
  };
  const clear = (): void => {
    kept = new Map();
  };
  const leaseAnew = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isOn = false;
      clear();
    }, lookMs);
    timer.unref?.();
  };
  const keep = (exchange: RecordedExchange): (() => void) => {
    const own = kept;
    exchange.n = last + 1;
    touch(exchange);
    const [first] = kept.keys();
    if (kept.size > EXCHANGES_MAX && first !== undefined) kept.delete(first);
    return () => {
      if (own === kept && kept.has(exchange)) touch(exchange); // it was not cleared away meanwhile
    };
  };
  return {
    begin: (request) => (isOn ? recordExchange(request, keep) : undefined),
    look: (after) => {
      leaseAnew();
      const changed = [...kept]
        .filter(([, at]) => at > after)
        .map(([exchange]): AdminExchange => ({ ...exchange, frames: [...exchange.frames] }));
      return { isOn, last, exchanges: changed };
    },
    start: () => {
      isOn = true;
      leaseAnew();
    },
    stop: () => {
      isOn = false;
    },
    clear,
  };
}
