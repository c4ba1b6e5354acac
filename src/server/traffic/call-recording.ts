import type { Caller, CallRecording, HttpRequest } from '#bindings';
import type { RecordedExchange } from './recording.ts';
import { CHARS_MAX, FRAMES_MAX, newExchange } from './recording.ts';
import { bodyOf } from './redact.ts';

/** The recording of one call over gRPC, gRPC-Web or Connect. Its messages are recorded as JSON. */
export interface RecordedCall extends CallRecording {
  /** The call has passed the access checks, or was refused. From now on it is listed. */
  began(caller: Caller | undefined): void;
  /** The call has ended with this status, for example `NOT_FOUND`. */
  ended(status: string, message: string): void;
}

/** gRPC answers with this status of HTTP, whatever its own says. */
const HTTP_OK = 200;

/** `keep` stores the exchange, and returns a function to call after each change. */
export function recordCall(request: HttpRequest, keep: (exchange: RecordedExchange) => () => void): RecordedCall {
  const began = performance.now();
  const kept: RecordedExchange = { ...newExchange(request), status: HTTP_OK };
  let changed = (): void => undefined;
  let chars = 0;
  const text = (json: unknown): string => {
    const whole = JSON.stringify(json) ?? '';
    kept.isCut ||= whole.length > CHARS_MAX;
    return bodyOf(whole.slice(0, CHARS_MAX));
  };
  return {
    began: (caller) => {
      if (caller !== undefined) kept.principal = caller.principal.id;
      changed = keep(kept);
    },
    request: (json) => {
      kept.body = text(json);
      changed();
    },
    result: (json) => {
      kept.answer = text(json);
      changed();
    },
    event: (json) => {
      kept.isStream = true;
      const frame = `data: ${text(json)}`;
      chars += frame.length;
      if (chars > CHARS_MAX || kept.frames.length >= FRAMES_MAX) kept.isCut = true;
      else kept.frames.push({ atMs: performance.now() - began, text: frame });
      changed();
    },
    ended: (status, message) => {
      kept.grpcStatus = status;
      kept.answerHeaders =
        message === ''
          ? [['grpc-status', status]]
          : [
              ['grpc-status', status],
              ['grpc-message', bodyOf(message)],
            ];
      kept.endedMs ??= performance.now() - began;
      changed();
    },
  };
}
