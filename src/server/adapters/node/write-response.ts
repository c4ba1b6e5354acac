import type { ServerResponse } from 'node:http';
import type { HttpResponse, ResponseStream } from '#bindings';

/** Options of `writeAnswer`. */
export interface WriteOptions {
  /** A client that reads nothing for this long is disconnected. */
  readonly idleMsMax: number;
  /** Closes the connection after the response. */
  readonly isLast: boolean;
  /** Called when the last byte of the complete response was handed to the operating system. */
  readonly onDelivered: (() => void) | undefined;
  readonly onCut: (() => void) | undefined;
  /** A response that is not a stream ends only when this promise resolves; its body is sent at once. */
  readonly hold?: Promise<void> | undefined;
}

/** Writes a response: at once if its body is a text, piece by piece with backpressure if it is a stream. */
export function writeAnswer(outgoing: ServerResponse, answer: HttpResponse, options: WriteOptions): void {
  const { status, body } = answer;
  const headers = options.isLast ? { ...answer.headers, Connection: 'close' } : answer.headers;
  if (outgoing.destroyed) {
    if (body !== null && typeof body !== 'string') body.cancel();
    return;
  }
  if (body === null || typeof body === 'string') {
    // Head and body go out in one write, because writes are most of the cost of a small response.
    const length = body === null ? undefined : Buffer.byteLength(body);
    outgoing.writeHead(status, length === undefined ? headers : { ...headers, 'Content-Length': length });
    if (options.onDelivered !== undefined) outgoing.once('finish', options.onDelivered);
    if (options.hold === undefined || body === null) outgoing.end(body ?? undefined);
    else {
      outgoing.write(body);
      void options.hold.then(() => outgoing.end());
    }
    return;
  }
  outgoing.writeHead(status, headers);
  flatten(outgoing);
  new Pump(body, outgoing, options).run();
}

/** Node keeps the head as a rope of some thirty strings as long as the response is open. Reading a character flattens it and saves memory. */
function flatten(outgoing: ServerResponse & { readonly _header?: string | null }): void {
  outgoing._header?.charCodeAt(0);
}

/** Writes a stream to a response, the next piece when the socket has room for it. */
class Pump {
  readonly #flow: ResponseStream;
  readonly #outgoing: ServerResponse;
  readonly #options: WriteOptions;

  constructor(flow: ResponseStream, outgoing: ServerResponse, options: WriteOptions) {
    this.#flow = flow;
    this.#outgoing = outgoing;
    this.#options = options;
    // A disconnect releases the task's subscriber at once, not at the next event.
    outgoing.on('close', () => flow.cancel());
  }

  run(): void {
    this.#flow.next().then(
      (text) => this.#write(text),
      () => this.#outgoing.destroy(),
    );
  }

  #write(text: string | undefined): void {
    if (text === undefined) this.#end();
    else if (this.#outgoing.write(text)) this.run();
    else void this.#wait();
  }

  async #wait(): Promise<void> {
    const { idleMsMax, onCut } = this.#options;
    if (await isDrained(this.#outgoing, idleMsMax)) return this.run();
    if (this.#outgoing.destroyed) return;
    onCut?.();
    this.#outgoing.destroy(); // the client can resume with the id of the last event it has seen
  }

  #end(): void {
    const { onDelivered } = this.#options;
    if (onDelivered !== undefined && this.#flow.isWhole) this.#outgoing.once('finish', onDelivered);
    this.#outgoing.end();
  }
}

function isDrained(outgoing: ServerResponse, idleMsMax: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      outgoing.off('drain', done).off('close', done);
      resolve(!outgoing.destroyed && !outgoing.writableNeedDrain);
    };
    const timer = setTimeout(done, idleMsMax);
    outgoing.once('drain', done).once('close', done);
  });
}
