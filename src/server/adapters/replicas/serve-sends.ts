import type { ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { ElsewhereError } from '#engine';
import type { CallContext, Mutable, TaskId } from '#protocol';
import { isA2AError } from '#protocol';
import type { AnsweredSend, LinkCall, SendAsked, SendLine } from './link-call.ts';
import { errorLine, LineReader } from './link-call.ts';
import type { LinkCallHost } from './serve-call.ts';

/** What `ServedSends` needs of the node. */
export interface SendsHost extends LinkCallHost {
  /** Whether the sender is still one of the replicas. */
  readonly isAlive: () => Promise<boolean>;
  /** The callers of these earlier sends have the whole response. */
  readonly delivered: (keys: readonly string[]) => void;
}

/** A caller of a send waits longer than this for its result: its replica learns at once which task the message went to. */
const ADMITTED_MS = 50;

/** Serves the sends of another replica, which come as lines of one stream. */
export class ServedSends {
  readonly #stream: ServerHttp2Stream;
  readonly #host: SendsHost;
  readonly #running = new Map<number, AbortController>();
  #isEnding = false;

  constructor(stream: ServerHttp2Stream, host: SendsHost) {
    this.#stream = stream;
    this.#host = host;
    const lines = new LineReader<SendAsked>();
    stream.on('data', (piece: Uint8Array) => {
      try {
        for (const line of lines.take(piece)) this.#take(line);
      } catch (thrown) {
        host.log.error('a send of another node could not be read', thrown);
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      }
    });
    stream.once('end', () => this.finish());
    stream.once('close', () => {
      for (const left of this.#running.values()) left.abort();
    });
    stream.respond({ ':status': 200 });
  }

  /** Answers what is running, and ends the stream. The sender repeats elsewhere what it did not get an answer to. */
  finish(): void {
    this.#isEnding = true;
    if (this.#running.size > 0 || this.#stream.closed) return;
    this.#stream.end();
    this.#stream.close(constants.NGHTTP2_NO_ERROR);
  }

  #take({ n, call, reached, isCanceled }: SendAsked): void {
    if (reached !== undefined) this.#host.delivered(reached);
    if (isCanceled === true) this.#running.get(n)?.abort();
    if (call !== undefined) void this.#serve(n, call);
  }

  async #serve(n: number, call: LinkCall<'send'>): Promise<void> {
    const left = new AbortController();
    this.#running.set(n, left);
    const admitted: SendLine[] = [];
    const tell = (): void => this.#write(admitted.splice(0));
    let late: NodeJS.Timeout | undefined;
    const onAdmitted = (task: TaskId): void => {
      admitted.push({ n, admitted: task });
      late ??= setTimeout(tell, ADMITTED_MS);
    };
    try {
      const answer = await this.#answerTo(call, { signal: left.signal, onAdmitted });
      this.#write([...admitted, { n, answer }]);
    } catch (thrown) {
      this.#host.log.error('the answer to a send for another node could not be written', thrown);
      this.#write([...admitted, { n, answer: { ...errorLine(thrown), reportsDelivery: false } }]);
    }
    clearTimeout(late);
    this.#running.delete(n);
    if (this.#isEnding) this.finish();
  }

  async #answerTo(call: LinkCall<'send'>, own: Pick<CallContext, 'signal' | 'onAdmitted'>): Promise<AnsweredSend> {
    const { serviceOf, isAlive, isServing, keepMark, log } = this.#host;
    if (this.#isEnding || !(await isAlive())) return { isAway: true };
    const service = serviceOf(call.agent);
    if (service === undefined) return { isAway: true, lacksAgent: true };
    let reportsDelivery = false;
    const ctx: Mutable<CallContext> = { ...call.ctx, ...own };
    const onDelivered = (mark: () => void): void => {
      reportsDelivery = true;
      keepMark(call.key, mark);
    };
    if (call.reportsDelivery) ctx.onDelivered = onDelivered;
    try {
      const result = await service.send(call.request, ctx);
      return { result, reportsDelivery };
    } catch (thrown) {
      if (thrown instanceof ElsewhereError) return { isAway: true, cell: thrown.cell };
      if (!isA2AError(thrown)) log.error('a send for another node failed', thrown);
      else if (thrown.kind === 'UNAVAILABLE' && !isServing()) return { isAway: true };
      return { ...errorLine(thrown), reportsDelivery };
    }
  }

  #write(lines: readonly SendLine[]): void {
    if (lines.length > 0 && !this.#stream.destroyed && !this.#stream.closed)
      this.#stream.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}
