import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { ElsewhereError } from '#engine';
import type { A2AService, CallContext, Mutable } from '#protocol';
import { isA2AError } from '#protocol';
import type { Log } from '../../observability/log.ts';
import type { LinkCall, LinkLine, LinkStreamOperation } from './link-call.ts';
import { errorLine, openEvents } from './link-call.ts';
import { AWAY, CELL, DELIVERED, END, LACKS } from './link-wire.ts';
import { allOf } from './passing.ts';

/** What `serveLinkCall` needs of the node. */
export interface LinkCallHost {
  /** The service of an agent, without the checks that the sender has made. Undefined: this replica does not serve it. */
  readonly serviceOf: (agent: string) => A2AService | undefined;
  /** False: this replica is about to end. */
  readonly isServing: () => boolean;
  readonly log: Log;
  /** Keeps what to call when the sender reports that its caller has the whole response. */
  readonly keepMark: (key: string, mark: () => void) => void;
}

/** Lets another replica read a stream of a task in a cell of this one. */
export async function serveLinkCall(stream: ServerHttp2Stream, host: LinkCallHost): Promise<void> {
  const call = JSON.parse((await allOf(stream)).toString()) as LinkCall<LinkStreamOperation>;
  const service = host.serviceOf(call.agent);
  if (service === undefined) refuseCall(stream, { [AWAY]: '1', [LACKS]: '1' });
  else await new ServedCall(stream, call, host).run(service);
}

/** Answers without a body. A response that has begun is broken off instead: the sender continues it elsewhere. */
export function refuseCall(stream: ServerHttp2Stream, headers: Readonly<Record<string, string>>, status = 421): void {
  if (stream.headersSent) stream.close(constants.NGHTTP2_CANCEL);
  else if (!stream.destroyed) stream.respond({ ':status': status, ...headers }, { endStream: true });
  stream.resume();
}

class ServedCall {
  readonly #stream: ServerHttp2Stream;
  readonly #call: LinkCall<LinkStreamOperation>;
  readonly #host: LinkCallHost;
  readonly #left = new AbortController();
  /** Tasks that a message went to, and that the sender does not know yet. */
  #admitted: LinkLine[] = [];
  #reportsDelivery = false;
  #isFinished = false;
  #end: IncomingHttpHeaders = {};

  constructor(stream: ServerHttp2Stream, call: LinkCall<LinkStreamOperation>, host: LinkCallHost) {
    this.#stream = stream;
    this.#call = call;
    this.#host = host;
    stream.once('close', () => {
      if (!this.#isFinished) this.#left.abort(); // Node also ends a stream that the sender has reset
    });
  }

  async run(service: A2AService): Promise<void> {
    const { after = 0 } = this.#call;
    const ctx: Mutable<CallContext> = {
      ...this.#call.ctx,
      signal: this.#left.signal,
      onAdmitted: (task) => void this.#admitted.push({ admitted: task }), // told with the first events
    };
    const onDelivered = (mark: () => void): void => {
      this.#reportsDelivery = true;
      this.#host.keepMark(this.#call.key, mark);
    };
    if (this.#call.reportsDelivery) ctx.onDelivered = onDelivered;
    const items = openEvents(service, this.#call, ctx);
    try {
      for (let next = await items.next(); next.done !== true; next = await items.next()) {
        const batch = next.value.filter(({ seq }) => seq === undefined || seq > after);
        if (batch.length > 0 && !(await this.#write({ events: batch }))) return;
      }
      // The engine of a replica that ends also ends the streams of tasks that continue elsewhere.
      this.#finish(this.#host.isServing() ? { [END]: 'whole' } : { [END]: 'away' });
    } catch (thrown) {
      await this.#fail(thrown);
    } finally {
      void items.return?.().then(undefined, () => undefined);
    }
  }

  async #fail(thrown: unknown): Promise<void> {
    const { isServing, log } = this.#host;
    if (thrown instanceof ElsewhereError) return this.#away({ [CELL]: String(thrown.cell) });
    if (!isA2AError(thrown)) log.error('a stream for another node failed', thrown);
    else if (thrown.kind === 'UNAVAILABLE' && !isServing()) return this.#away({});
    this.#finish({ [END]: 'whole' }, errorLine(thrown));
  }

  #away(where: Readonly<Record<string, string>>): void {
    if (this.#stream.headersSent) this.#finish({ [END]: 'away', ...where });
    else refuseCall(this.#stream, { [AWAY]: '1', ...where });
  }

  #textOf(lines: readonly LinkLine[]): string {
    return [...this.#admitted.splice(0), ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  /** False: the sender has left. */
  async #write(...lines: readonly LinkLine[]): Promise<boolean> {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return false;
    this.#begin();
    const text = this.#textOf(lines);
    if (text === '' || stream.write(text)) return true;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stream.off('drain', done).off('close', done);
        resolve();
      };
      stream.once('drain', done).once('close', done);
    });
    return !stream.destroyed;
  }

  #begin(waitForTrailers = true): void {
    const stream = this.#stream;
    if (stream.headersSent) return;
    if (waitForTrailers) stream.once('wantTrailers', () => stream.sendTrailers(this.#end));
    stream.respond({ ':status': 200, ...(this.#reportsDelivery ? { [DELIVERED]: '1' } : {}) }, { waitForTrailers });
  }

  #finish(end: IncomingHttpHeaders, ...lines: readonly LinkLine[]): void {
    if (this.#stream.destroyed || this.#stream.closed) return;
    this.#end = end;
    this.#isFinished = true;
    this.#begin(lines.length === 0); // an error is an end itself
    const text = this.#textOf(lines);
    // Node frees the memory of a write that waits in the same queue as an empty one: the caller would get garbage.
    if (text === '') this.#stream.end();
    else this.#stream.end(text);
  }
}
