import type { Writable } from 'node:stream';
import { FRAME_HEAD_BYTES, framed } from '../framing.ts';
import type { UnsentMessages } from '../host.ts';
import { compressed } from './compression.ts';

/** Options of `ClientPace`. */
export interface PaceOptions {
  /** A client that takes nothing for this long is disconnected. */
  readonly idleMsMax: number;
  readonly unsent: (cut: () => void) => UnsentMessages;
}

/** Options of `DirectWriter`. */
export interface DirectWriterOptions extends PaceOptions {
  readonly isCompressed: boolean;
}

/** As large as a frame of HTTP/2. Each write costs as much as several messages. */
export const PIECE_BYTES = 16_384;
/** After this many bytes without a wait for the client, other calls get a turn. */
const TURN_BYTES = 262_144;

/** Writes messages to a stream in pieces, as fast as the client takes them. */
export class DirectWriter {
  readonly #stream: Writable;
  readonly #options: DirectWriterOptions;
  readonly #pace: ClientPace;
  #messages: Uint8Array[] = [];
  #bytes = 0;
  #sinceTurn = 0;

  constructor(stream: Writable, options: DirectWriterOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#pace = new ClientPace(stream, options);
  }

  /** Adds a message. False: there is enough for a piece, and the caller should call `flush`. */
  add(message: Uint8Array): boolean {
    this.#messages.push(message);
    this.#bytes += FRAME_HEAD_BYTES + message.length;
    return this.#bytes < PIECE_BYTES;
  }

  /** Writes what was added, and waits until the client has room. False: the client has disconnected. */
  async flush(): Promise<boolean> {
    const messages = this.#messages;
    const bytes = this.#bytes;
    if (messages.length === 0) return !this.#stream.destroyed;
    this.#messages = [];
    this.#bytes = 0;
    const piece = this.#options.isCompressed ? await compressed(messages) : framed(messages);
    if (this.#stream.destroyed || this.#stream.writableEnded) return false;
    if (!this.#stream.write(piece)) return await this.#pace.taken('drain');
    this.#sinceTurn += bytes;
    if (this.#sinceTurn < TURN_BYTES) return true;
    this.#sinceTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
    return !this.#stream.destroyed;
  }

  /** Counts what is left of a response that has ended. */
  watchEnd(): void {
    if (this.#stream.writableLength > 0) void this.#pace.taken('finish');
  }
}

/** Waits for slow clients, and disconnects those that read nothing. */
export class ClientPace {
  readonly #stream: Writable;
  readonly #options: PaceOptions;
  #unsent: UnsentMessages | undefined;

  constructor(stream: Writable, options: PaceOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  /** Waits until the client has taken what was written. False: it has disconnected, or was disconnected because it read nothing. */
  async taken(event: 'drain' | 'finish'): Promise<boolean> {
    const stream = this.#stream;
    const { idleMsMax, unsent } = this.#options;
    this.#unsent ??= unsent(() => stream.destroy());
    this.#unsent.hold(stream.writableLength);
    const isTaken = await happens(stream, event, idleMsMax);
    this.#unsent.release();
    if (!isTaken && !stream.destroyed) this.#unsent.cut();
    return isTaken;
  }
}

function happens(stream: Writable, event: 'drain' | 'finish', msMax: number): Promise<boolean> {
  if (stream.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (isTaken: boolean): void => {
      clearTimeout(timer);
      stream.off(event, onTaken).off('close', onGone);
      resolve(isTaken);
    };
    const onTaken = (): void => done(!stream.destroyed);
    const onGone = (): void => done(false);
    const timer = setTimeout(onGone, msMax);
    stream.once(event, onTaken).once('close', onGone);
  });
}
