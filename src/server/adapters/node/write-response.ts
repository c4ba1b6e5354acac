import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { HttpResponse, ResponseStream } from '#bindings';
import { textStream } from '#bindings';
import type { Waiter } from '#protocol';
import type { UnsentBudget, UnsentResponse } from '../../access/limits/unsent-budget.ts';

/** Options of `writeAnswer`. */
export interface WriteOptions {
  /** A client that reads nothing for this long is disconnected. */
  readonly idleMsMax: number;
  /** Closes the connection after the response. */
  readonly isLast: boolean;
  /** Called when the last byte of the complete response was handed to the operating system. */
  readonly onDelivered: (() => void) | undefined;
  readonly onCut: (() => void) | undefined;
  readonly budget: UnsentBudget | undefined;
  /** Whose budget the response counts against. */
  readonly caller: string | undefined;
  /** A response that is not a stream ends only when this promise resolves; its body is sent at once. */
  readonly hold?: Promise<void> | undefined;
}

/** A longer text is sent in pieces. What is shorter mostly fits into the buffers of the operating system. */
export const AT_ONCE_CHARS = 32_768;
/** After this many characters without a wait for the socket, other requests get a turn. */
const TURN_CHARS = 65_536;

/** Writes a response: at once if its body is a short text, otherwise piece by piece with backpressure. */
export function writeAnswer(outgoing: ServerResponse, answer: HttpResponse, options: WriteOptions): void {
  const { status, body } = answer;
  const headers = options.isLast ? { ...answer.headers, Connection: 'close' } : answer.headers;
  if (outgoing.destroyed) {
    if (body !== null && typeof body !== 'string') body.cancel();
    return;
  }
  if (typeof body !== 'string') {
    outgoing.writeHead(status, headers);
    if (body === null) endWith(outgoing, undefined, options);
    else new Pump(body, outgoing, options).run();
    return;
  }
  outgoing.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  if (body.length > AT_ONCE_CHARS && options.hold === undefined) new Pump(textStream(body), outgoing, options).run();
  else {
    endWith(outgoing, body, options);
    if (outgoing.writableLength > 0 && options.hold === undefined) new Pump(textStream(''), outgoing, options).watch();
  }
}

/** Head and body go out in one write, because writes are most of the cost of a small response. */
function endWith(outgoing: ServerResponse, body: string | undefined, { onDelivered, hold }: WriteOptions): void {
  if (onDelivered !== undefined) outgoing.once('finish', onDelivered);
  if (hold === undefined || body === undefined) outgoing.end(body);
  else {
    outgoing.write(body);
    void hold.then(() => outgoing.end());
  }
}

/** Node keeps the head as a rope of some thirty strings as long as the response is open. After it is sent, Node only looks whether there is one. */
function dropSentHead(outgoing: Writable & { readonly _headerSent?: boolean; _header?: string | null }): void {
  if (outgoing._headerSent === true) outgoing._header = 'sent';
}

/** Writes a stream to a response, or to a stream of HTTP/2, the next piece when the socket has room for it. */
export class Pump implements UnsentResponse, Waiter {
  readonly #flow: ResponseStream;
  readonly #outgoing: Writable;
  readonly #options: WriteOptions;
  #sinceTurn = 0;

  constructor(flow: ResponseStream, outgoing: Writable, options: WriteOptions) {
    this.#flow = flow;
    this.#outgoing = outgoing;
    this.#options = options;
    // A bound method takes less memory than a closure.
    outgoing.on('close', this.#closed.bind(this));
  }

  /** A disconnect releases the task's subscriber at once, not at the next event. */
  #closed(): void {
    this.#flow.cancel();
    this.#options.budget?.release(this);
  }

  get caller(): string | undefined {
    return this.#options.caller;
  }

  run(): void {
    if (this.#flow.waitsFor?.(this) === true) return;
    this.#flow.next().then(
      (text) => this.#write(text),
      () => this.#outgoing.destroy(),
    );
  }

  wake(): void {
    this.run();
  }

  /** The client can resume a stream with the id of the last event that it has seen. */
  cut(): void {
    this.#options.onCut?.();
    this.#outgoing.destroy();
  }

  #write(text: string | undefined): void {
    if (text === undefined) {
      this.#end();
      return;
    }
    const hasRoom = this.#outgoing.write(text);
    dropSentHead(this.#outgoing);
    if (hasRoom) this.#takeTurns(text.length);
    else void this.#wait(text.length);
  }

  #takeTurns(chars: number): void {
    this.#sinceTurn += chars;
    if (this.#sinceTurn < TURN_CHARS) this.run();
    else {
      this.#sinceTurn = 0;
      setImmediate(() => this.run());
    }
  }

  async #wait(chars: number): Promise<void> {
    if (await this.#isTaken('drain')) this.#takeTurns(chars);
  }

  #end(): void {
    const { onDelivered } = this.#options;
    if (onDelivered !== undefined && this.#flow.isWhole) this.#outgoing.once('finish', onDelivered);
    this.#outgoing.end();
    this.watch();
  }

  /** Counts what is left of a response that has ended. */
  watch(): void {
    if (this.#outgoing.writableLength > 0) void this.#isTaken('finish');
  }

  /** Waits until the client has taken what was written. False: it disconnected, or was disconnected because it read nothing. */
  async #isTaken(event: 'drain' | 'finish'): Promise<boolean> {
    const { budget, idleMsMax } = this.#options;
    budget?.hold(this, this.#outgoing.writableLength + (this.#flow.heldBytes ?? 0));
    const isTaken = await happens(this.#outgoing, event, idleMsMax);
    budget?.release(this);
    if (!isTaken && !this.#outgoing.destroyed) this.cut();
    return isTaken;
  }
}

function happens(outgoing: Writable, event: 'drain' | 'finish', idleMsMax: number): Promise<boolean> {
  if (outgoing.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      outgoing.off(event, done).off('close', done);
      resolve(!outgoing.destroyed && (event === 'finish' ? outgoing.writableFinished : !outgoing.writableNeedDrain));
    };
    const timer = setTimeout(done, idleMsMax);
    outgoing.once(event, done).once('close', done);
  });
}
