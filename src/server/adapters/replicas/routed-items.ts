import { randomUUID } from 'node:crypto';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { ANY_CELL } from '#bindings';
import { ElsewhereError } from '#engine';
import type { A2AService, CallContext, Seq } from '#protocol';
import { A2AError, isLast } from '#protocol';
import type { ReplicaRow } from '../../../engine/adapters/postgres.ts';
import type { ForwarderOptions } from './forward.ts';
import { headOf, noOwner, pauseFor } from './forward.ts';
import type { LinkCall, LinkItem, LinkOperation, LinkRequests } from './link-call.ts';
import { errorOf, isEvents, LineReader, openCall, toldContext } from './link-call.ts';
import { AWAY, CALL, CELL, DELIVERED, END, LACKS } from './link-wire.ts';
import type { SendChannels } from './send-channel.ts';
import type { WantCell } from './want-cell.ts';
import { notTooOften } from './want-cell.ts';

/** Options of `routeCalls`. */
export interface RoutingOptions
  extends Pick<ForwarderOptions, 'ownership' | 'links' | 'reports' | 'want' | 'onForwarded' | 'holdMs' | 'repeats'> {
  readonly sends: SendChannels;
}

type Items<T extends LinkItem> = AsyncIterator<T, undefined>;

const DONE: IteratorResult<never, undefined> = { done: true, value: undefined };

/** A call that is routed. */
export interface RoutedCall<Op extends LinkOperation = LinkOperation> {
  readonly service: A2AService;
  readonly agent: string;
  readonly operation: Op;
  readonly request: LinkRequests[Op];
  readonly ctx: CallContext;
}

const ENDED = 'the node that owns this task has ended';

/** The connection to the owner broke. */
class BrokenLinkError extends Error {}

/** Begins at this replica, and goes wherever the cell of its task is. */
export class RoutedItems<T extends LinkItem> implements Items<T> {
  readonly #call: RoutedCall;
  readonly #options: RoutingOptions;
  readonly #key = randomUUID();
  readonly #want: WantCell;
  #source: Items<LinkItem>;
  /** Tells the owner, if that is another replica, that nobody waits for it any more. */
  #cancel: (() => void) | undefined;
  #cell = ANY_CELL;
  /** The number of the last event that the caller has. */
  #after: Seq | undefined;
  /** The caller has the last event. */
  #hasLast = false;
  #isOver = false;
  #attempts = 0;
  #giveUpAt: number | undefined;
  #lacksAgent = false;
  #isAdmitted = false;
  #mark: (() => void) | undefined;
  /** The reader of a stream calls `return` instead. */
  readonly #onAbort = (): void => this.#finish('left');

  constructor(call: RoutedCall, options: RoutingOptions) {
    this.#call = call;
    this.#options = options;
    this.#want = notTooOften(options.want);
    const { onElsewhere: _, onDelivered, ...ctx } = call.ctx;
    const here: CallContext = {
      ...ctx,
      ...(onDelivered === undefined ? {} : { onDelivered: (mark) => this.#setMark(mark) }),
      onAdmitted: (task) => this.#admitted(task),
    };
    this.#source = openCall(call.service, call, here);
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    while (!this.#isOver) {
      try {
        return this.#taken(await this.#source.next());
      } catch (thrown) {
        if (this.#isOver) break;
        if (this.#hasLast && thrown instanceof BrokenLinkError) this.#finish('ok');
        else if (thrown instanceof ElsewhereError || thrown instanceof BrokenLinkError) await this.#move(thrown);
        else throw this.#failed(thrown);
      }
    }
    return DONE;
  }

  #taken(next: IteratorResult<LinkItem, undefined>): IteratorResult<T, undefined> {
    if (next.done === true || this.#call.operation === 'send') this.#finish(this.#attempts > 1 ? 'repeated' : 'ok');
    if (next.done === true) return DONE;
    this.#note(next.value);
    return { done: false, value: next.value as T };
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    const source = this.#source;
    this.#finish('left');
    await source.return?.();
    return DONE;
  }

  #finish(outcome: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#attempts > 0 || outcome === 'no_owner') this.#options.onForwarded(outcome);
    this.#leave();
  }

  #failed(thrown: unknown): unknown {
    this.#finish('ok');
    return thrown;
  }

  #leave(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#call.operation === 'send') this.#call.ctx.signal.removeEventListener('abort', this.#onAbort);
  }

  #note(item: LinkItem): void {
    const last = isEvents(item) ? item.at(-1) : undefined;
    this.#giveUpAt = undefined;
    if (last === undefined) return;
    this.#after = last.seq ?? this.#after;
    this.#hasLast = isLast(last.event) || last.closes === true;
  }

  #admitted(task: Parameters<NonNullable<CallContext['onAdmitted']>>[0]): void {
    this.#giveUpAt = undefined;
    if (this.#isAdmitted) return;
    this.#isAdmitted = true;
    this.#call.ctx.onAdmitted?.(task);
  }

  /** The last replica that answered has to know when the caller has the whole response. */
  #setMark(mark: () => void): void {
    const isFirst = this.#mark === undefined;
    this.#mark = mark;
    if (isFirst) this.#call.ctx.onDelivered?.(() => this.#mark?.());
  }

  /** Finds the next owner, and continues there. */
  async #move(thrown: ElsewhereError | BrokenLinkError): Promise<void> {
    const { ownership, holdMs } = this.#options;
    const { signal } = this.#call.ctx;
    if (thrown instanceof ElsewhereError && (thrown.cell !== ANY_CELL || this.#after === undefined)) this.#cell = thrown.cell;
    this.#leave();
    if (this.#giveUpAt !== undefined) await pauseFor(ownership, this.#cell, undefined);
    while (!this.#isOver) {
      this.#giveUpAt ??= performance.now() + holdMs;
      const owner = ownership.owner(this.#cell);
      if (owner !== undefined && (await this.#ask(owner))) return;
      if (signal.aborted) return this.#finish('left');
      if (performance.now() > (this.#giveUpAt ?? Number.POSITIVE_INFINITY)) throw this.#noOwner(owner);
      if (owner !== undefined && this.#lacksAgent) await this.#want(owner, this.#cell, this.#call.agent);
      await pauseFor(ownership, this.#cell, owner);
    }
  }

  #noOwner(owner: ReplicaRow | undefined): A2AError {
    this.#finish('no_owner');
    return new A2AError('UNAVAILABLE', noOwner(owner, this.#attempts, this.#lacksAgent), { retryAfterMs: 1000 });
  }

  /** False: the replica does not answer, or does not own the cell. */
  #ask(owner: ReplicaRow): Promise<boolean> {
    return this.#call.operation === 'send' ? this.#askSend(owner) : this.#askStream(owner);
  }

  async #askSend(owner: ReplicaRow): Promise<boolean> {
    const { sends, reports } = this.#options;
    const told = this.#told() as LinkCall<'send'>;
    const sent = await sends.send(owner, told, (task) => this.#admitted(task)).catch(() => undefined);
    if (sent === undefined) return false;
    this.#cancel = sent.cancel;
    if (this.#isOver || this.#call.ctx.signal.aborted) {
      this.#leave();
      return false;
    }
    this.#attempts += 1;
    this.#call.ctx.signal.addEventListener('abort', this.#onAbort);
    const answer = await sent.answer;
    if (answer === undefined) this.#leave();
    if (answer === undefined || this.#isOver) return false;
    if ('isAway' in answer) {
      this.#leave();
      if (answer.cell !== undefined && answer.cell >= 0) this.#cell = answer.cell;
      this.#lacksAgent = answer.lacksAgent === true;
      return false;
    }
    if (answer.reportsDelivery) this.#setMark(() => reports.add(owner, this.#key));
    if ('error' in answer) throw this.#failed(errorOf(answer));
    this.#source = { next: async () => ({ done: false, value: answer.result }) };
    return true;
  }

  async #askStream(owner: ReplicaRow): Promise<boolean> {
    const { links, reports } = this.#options;
    const stream = await links
      .request(owner, { ':method': 'POST', ':path': '/', [CALL]: '1', ...reports.headers(owner) })
      .catch(() => undefined);
    if (stream === undefined) return false;
    stream.on('error', () => {}); // seen as the end of the response
    this.#cancel = () => cancel(stream);
    if (this.#isOver) {
      this.#leave();
      return false;
    }
    this.#attempts += 1;
    stream.end(JSON.stringify(this.#told()));
    const headers = await headOf(stream);
    if (headers === undefined || Number(headers[':status']) !== 200) {
      this.#leave();
      this.#away(headers);
      return false;
    }
    if (headers[DELIVERED] !== undefined) this.#setMark(() => reports.add(owner, this.#key));
    this.#source = this.#read(stream);
    return true;
  }

  #told(): LinkCall {
    const { agent, operation, request, ctx } = this.#call;
    const after = this.#after;
    const told = toldContext(ctx);
    const resumed = after === undefined || operation !== 'subscribe' ? request : { ...request, after };
    const call = {
      agent,
      operation,
      request: resumed,
      ctx: this.#options.repeats === 'plain' ? { ...told, retryKey: `${told.retryKey} ${this.#attempts}` } : told,
      key: this.#key,
      reportsDelivery: ctx.onDelivered !== undefined,
    };
    return after === undefined ? call : { ...call, after };
  }

  #away(headers: IncomingHttpHeaders | undefined): void {
    if (headers?.[AWAY] === undefined) return;
    const cell = Number(headers[CELL] ?? Number.NaN);
    if (cell >= 0) this.#cell = cell;
    this.#lacksAgent = headers[LACKS] !== undefined;
  }

  async *#read(stream: ClientHttp2Stream): AsyncGenerator<LinkItem, undefined> {
    const lines = new LineReader();
    let end: IncomingHttpHeaders = {};
    stream.once('trailers', (trailers) => {
      end = trailers;
    });
    try {
      for await (const piece of stream) {
        for (const line of lines.take(piece)) {
          if ('events' in line) yield line.events;
          else if ('admitted' in line) this.#admitted(line.admitted);
          else if ('error' in line) throw errorOf(line);
        }
      }
    } catch (thrown) {
      throw thrown instanceof A2AError ? thrown : new BrokenLinkError(ENDED, { cause: thrown });
    }
    if (end[END] === 'whole') return undefined;
    throw end[END] === undefined ? new BrokenLinkError(ENDED) : new ElsewhereError(Number(end[CELL] ?? this.#cell));
  }
}

/** A complete exchange closes by itself. Canceling it would look like a caller that left. */
function cancel(stream: ClientHttp2Stream): void {
  if (!stream.closed && !stream.readableEnded) stream.close(constants.NGHTTP2_CANCEL);
}
