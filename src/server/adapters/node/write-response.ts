import type { ServerResponse } from 'node:http';
import type { HttpResponse, Outflow } from '#bindings';

export interface WriteOptions {
  /** A reader who takes nothing for this long is cut off. */
  readonly idleMsMax: number;
  /** The connection ends with this answer. */
  readonly isLast: boolean;
  /** The answer has gone out whole: the last byte of it was handed to the system. */
  readonly onDelivered: (() => void) | undefined;
  readonly onCut: (() => void) | undefined;
  /** A whole answer is sent at once, and ends only when this does. */
  readonly hold?: Promise<void> | undefined;
}

/** Writes an answer to Node's response: at once if it is whole, piece by piece at the reader's speed if it flows. */
export function writeAnswer(outgoing: ServerResponse, answer: HttpResponse, options: WriteOptions): void {
  const { status, body } = answer;
  const headers = options.isLast ? { ...answer.headers, Connection: 'close' } : answer.headers;
  if (outgoing.destroyed) {
    if (body !== null && typeof body !== 'string') body.cancel();
    return;
  }
  if (body === null || typeof body === 'string') {
    // Head and body go out in one write, which is what a small answer costs most.
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

/** Node keeps the head as the tree of its thirty pieces for as long as the answer takes, unless somebody looks into it. */
function flatten(outgoing: ServerResponse & { readonly _header?: string | null }): void {
  outgoing._header?.charCodeAt(0);
}

/** Hands a flow to a response, a piece whenever there is room for one. */
class Pump {
  readonly #flow: Outflow;
  readonly #outgoing: ServerResponse;
  readonly #options: WriteOptions;

  constructor(flow: Outflow, outgoing: ServerResponse, options: WriteOptions) {
    this.#flow = flow;
    this.#outgoing = outgoing;
    this.#options = options;
    // Whoever leaves frees what follows its task at once, not when there is something to tell it.
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
    this.#outgoing.destroy(); // its reader comes back with the id of the last event it has seen
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
