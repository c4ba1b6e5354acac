import type { HttpRequest } from '#bindings';
import type { AdminExchange, AdminWire } from '#protocol';
import type { RecordedCall } from './call-recording.ts';
import { recordCall } from './call-recording.ts';
import type { ExchangeRecording, RecordedExchange } from './recording.ts';
import { recordExchange } from './recording.ts';

/** Records requests and responses in memory while an operator watches them in the console. */
export interface TrafficRecorder extends AdminWire {
  /** Starts the recording of one request. Undefined while recording is off. */
  begin(request: HttpRequest): ExchangeRecording | undefined;
  /** The same for a call over gRPC, gRPC-Web or Connect. */
  beginCall(request: HttpRequest): RecordedCall | undefined;
}

const EXCHANGES_MAX = 100;
/** Recording stops after this time without a reader. The console reads every few seconds. */
const IDLE_MS = 30_000;

/** A recorder that is off. It keeps at most 100 exchanges. */
export function createTrafficRecorder(idleMs: number = IDLE_MS): TrafficRecorder {
  let isOn = false;
  let last = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Recorded exchanges with the number of their last change, the least recently changed first. */
  let kept = new Map<RecordedExchange, number>();
  const touch = (exchange: RecordedExchange): void => {
    last += 1;
    kept.delete(exchange);
    kept.set(exchange, last);
  };
  const clear = (): void => {
    kept = new Map();
  };
  const restartTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isOn = false;
      clear();
    }, idleMs);
    timer.unref?.();
  };
  const keep = (exchange: RecordedExchange): (() => void) => {
    const own = kept;
    exchange.n = last + 1;
    touch(exchange);
    const [first] = kept.keys();
    if (kept.size > EXCHANGES_MAX && first !== undefined) kept.delete(first);
    return () => {
      if (own === kept && kept.has(exchange)) touch(exchange); // unless it was cleared or dropped in the meantime
    };
  };
  return {
    begin: (request) => (isOn ? recordExchange(request, keep) : undefined),
    beginCall: (request) => (isOn ? recordCall(request, keep) : undefined),
    look: (after) => {
      restartTimer();
      const changed = [...kept]
        .filter(([, at]) => at > after)
        .map(([exchange]): AdminExchange => ({ ...exchange, frames: [...exchange.frames] }));
      return { isOn, last, exchanges: changed };
    },
    start: () => {
      isOn = true;
      restartTimer();
    },
    stop: () => {
      isOn = false;
    },
    clear,
  };
}
