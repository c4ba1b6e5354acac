/**
 * Why a link failed, as the `cause` of the A2AError that it throws. For those who explain it to people: a peer reads the error's
 * kind and message, and nothing of this.
 */

/** What came in place of an answer of the protocol. */
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

/** The sender was there and said nothing. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** It had begun, and stopped before its end. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
  readonly what: 'stream' | 'answer';

  constructor(what: 'stream' | 'answer', cause: unknown) {
    super(`the ${what} was cut off`, { cause });
    this.what = what;
  }
}

/** More than is taken; which option takes more. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly option: 'answerBytesMax' | 'eventBytesMax';

  constructor(option: TooLarge['option']) {
    super();
    this.option = option;
  }
}

/** The connection ended while a large request was being sent, so the server may have refused its size. The `cause` is the platform's error. */
export class LargeSend extends Error {
  override readonly name = 'LargeSend';
  readonly chars: number;

  constructor(chars: number, cause: unknown) {
    super('', { cause });
    this.chars = chars;
  }
}

/** The caller left; the `cause` is its signal's reason. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted';
}
