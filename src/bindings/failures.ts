// Why a link failed: the `cause` of the A2AError that it throws. The client explains errors to people with it. A cause is never sent to a
// peer, which gets only the error's kind and message.

/** The response is not an A2A response, for example a proxy's error page. */
export class NotA2A extends Error {
  override readonly name = 'NotA2A';
  readonly status: number;
  readonly mediaType: string;

  constructor(status: number, mediaType: string) {
    super(`HTTP ${status}, ${mediaType}`);
    this.status = status;
    this.mediaType = mediaType;
  }
}

/** The agent sent nothing within the timeout. A proxied agent's error tells the caller how long that was. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
  /** Undefined: the other side measured the time. */
  readonly ms: number | undefined;

  constructor(ms?: number, cause?: unknown) {
    super('', { cause });
    this.ms = ms;
  }
}

/** The connection ended before the response or the stream did. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
  readonly what: 'stream' | 'answer';

  constructor(what: 'stream' | 'answer', cause: unknown) {
    super(`the ${what} was cut off`, { cause });
    this.what = what;
  }
}

/** The response exceeds a limit. `option` names the option that raises it. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly option: 'answerBytesMax' | 'eventBytesMax';

  constructor(option: TooLarge['option']) {
    super();
    this.option = option;
  }
}

/**
 * The connection ended while a large request was being sent, so the server may have refused its size.
 * The `cause` is the platform's error.
 */
export class LargeSend extends Error {
  override readonly name = 'LargeSend';
  readonly chars: number;

  constructor(chars: number, cause: unknown) {
    super('', { cause });
    this.chars = chars;
  }
}

/** The caller aborted the call. The `cause` is its signal's reason. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted';
}
