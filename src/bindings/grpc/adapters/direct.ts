import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { A2AError } from '#protocol';
import type { HttpRequest } from '../../http.ts';
import { LateWatch } from '../../late-watch.ts';
import { errorHeaders, toCallerError } from '../../responses.ts';
import { framed, framedBody, onlyFrame } from '../framing.ts';
import type { AdmittedCall, GrpcHost, TrackedCall } from '../host.ts';
import { DEADLINE_EXCEEDED, timeoutMs } from '../host.ts';
import type { GrpcStatus } from '../wire.ts';
import { writeStatus } from '../wire.ts';
import { ACCEPTED_ENCODINGS, compressed, compressesAnswers, encodingOf, messageIn } from './compression.ts';
import type {
  DirectAnswer,
  DirectContext,
  DirectMethod,
  DirectMethods,
  DirectStream,
  MessageBatch,
  ResponseMetadata,
} from './direct-methods.ts';
import { A2A_METHODS } from './direct-methods.ts';
import { DirectWriter, PIECE_BYTES } from './direct-writer.ts';
import type { OperatorMethod } from './operator-methods.ts';
import { StatusError } from './operator-methods.ts';
import { messagesOf } from './request-messages.ts';
import { answerTooLarge } from './serve-call.ts';
import { statusOf } from './status.ts';

/** A request on an HTTP/2 stream. */
export interface DirectRequest extends HttpRequest {
  /** Called when the complete response has been sent. */
  readonly delivered: (() => void) | undefined;
  /** Calls the listener when the stream is closed. */
  onClose(listener: () => void): void;
}

/** A status with metadata of the response. */
interface CallStatus extends GrpcStatus {
  readonly metadata?: ResponseMetadata;
}

const OK: CallStatus = { code: 0, message: '' };
const CANCELLED: CallStatus = { code: 1, message: '' };
const UNIMPLEMENTED = 12;
const SMALL_ANSWERS = new LateWatch();
const EXPIRED: CallStatus = { code: DEADLINE_EXCEEDED, message: 'the deadline of the call has passed' };

/**
 * Serves one gRPC call on a stream of `node:http2`. Connect serves the same calls at four times the
 * cost, so it serves only gRPC-Web and its own protocol. `methods` are those of A2A by default.
 */
export function serveDirect(
  stream: ServerHttp2Stream,
  request: DirectRequest,
  host: GrpcHost,
  methods: DirectMethods = A2A_METHODS,
): Promise<void> {
  return new DirectCall(stream, request, host).run(methods);
}

class DirectCall implements TrackedCall {
  readonly #stream: ServerHttp2Stream;
  readonly #request: DirectRequest;
  readonly #host: GrpcHost;
  #admitted: AdmittedCall | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #listener: ((call: TrackedCall) => void) | undefined;
  /** The status to send after the last message. Undefined: the call has not ended. */
  #status: CallStatus | undefined;

  constructor(stream: ServerHttp2Stream, request: DirectRequest, host: GrpcHost) {
    this.#stream = stream;
    this.#request = request;
    this.#host = host;
    request.onClose(() => this.#closed());
  }

  async run(methods: DirectMethods): Promise<void> {
    try {
      this.#watchDeadline();
      const admitting = this.#host.admit(this.#request);
      const admitted = admitting instanceof Promise ? await admitting : admitting;
      this.#admitted = admitted;
      const { path, method: verb } = this.#request;
      if (verb !== 'POST') throw new A2AError('METHOD_NOT_FOUND', `calls of gRPC are POST requests, not ${verb.slice(0, 20)}`);
      const method = methods(path);
      if (method === undefined) throw new A2AError('METHOD_NOT_FOUND', `unknown method ${path.slice(0, 100)}`);
      await this.#serve(method, { host: this.#host, request: this.#request, admitted });
    } catch (thrown) {
      const { elsewhere } = this.#request;
      if (elsewhere?.cell !== undefined && !this.#stream.headersSent) return this.#giveUp();
      // A stream that has begun can't be answered by another replica. Its caller subscribes again.
      if (elsewhere !== undefined) elsewhere.cell = undefined;
      this.#end(thrown instanceof StatusError ? thrown.status : this.#statusOf(thrown));
    }
  }

  async #serve(method: DirectMethod, context: DirectContext): Promise<void> {
    if (method.kind === 'messages') return await this.#serveMessages(method.call, context);
    if (method.kind === 'stream') return await this.#answerStream(await this.#open(method, context), context.admitted);
    await this.#answer(await method.call(await this.#read(context.admitted), context));
  }

  /** Not a part of `#serve`: a suspended async function would keep the message as long as the stream is open. */
  async #open(method: Extract<DirectMethod, { kind: 'stream' }>, context: DirectContext): Promise<DirectStream> {
    return method.open(await this.#read(context.admitted), context);
  }

  /** Counts what the client has not taken yet of an answer, and disconnects it if it takes nothing. */
  watchEnd(): void {
    this.#writer(this.#admitted).watchEnd();
  }

  finish(_text: string, why: 'shutdown' | 'revoked'): void {
    const error =
      why === 'shutdown'
        ? new A2AError('UNAVAILABLE', 'this node is shutting down; try again')
        : new A2AError('UNAUTHENTICATED', 'the credential is not valid any more');
    this.#end(statusOf(error));
    this.#request.abort?.();
  }

  onEnd(listener: (call: TrackedCall) => void): void {
    this.#listener = listener;
  }

  /** Another replica answers, on the same stream. */
  #giveUp(): void {
    clearTimeout(this.#deadline);
    this.#status ??= CANCELLED;
    this.#admitted?.ended(CANCELLED.code);
  }

  #watchDeadline(): void {
    const timeout = this.#request.header('grpc-timeout');
    if (timeout === undefined) return;
    const ms = timeoutMs(timeout);
    if (ms === undefined)
      throw new A2AError('INVALID_REQUEST', 'grpc-timeout must be a number of at most 8 digits and a unit: H, M, S, m, u or n');
    this.#deadline = setTimeout(() => {
      this.#end(EXPIRED);
      this.#request.abort?.();
    }, ms);
  }

  async #answer({ bytes, headers, trailers }: DirectAnswer): Promise<void> {
    const { answerBytesMax } = this.#host;
    if (bytes.length > answerBytesMax) throw answerTooLarge(bytes.length, answerBytesMax);
    const answer = compressesAnswers(this.#request) ? await compressed([bytes]) : framed([bytes]);
    if (this.#status !== undefined) return; // the deadline has passed, or the caller has disconnected
    this.#respond(headers);
    this.#stream.write(answer);
    this.#end(okWith(trailers));
  }

  async #answerStream({ headers, trailers, batches }: DirectStream, admitted: AdmittedCall): Promise<void> {
    try {
      const first = await batches.next();
      if (this.#status !== undefined) return;
      this.#respond(headers);
      admitted.track(this);
      if (await this.#pump(first, batches)) this.#end(okWith(trailers));
    } finally {
      void batches.return?.().then(undefined, () => undefined); // the caller has the status already
    }
  }

  /**
   * Writes the messages of each batch in large pieces, the next batch when the client has taken the last
   * one. False: the call ended before the last message.
   */
  async #pump(first: IteratorResult<MessageBatch, unknown>, batches: DirectStream['batches']): Promise<boolean> {
    const writer = this.#writer(this.#admitted);
    for (let next = first; next.done !== true; next = await batches.next()) {
      if (this.#status !== undefined) return false;
      const batch = next.value;
      for (let at = 0; at < batch.length; at += 1) {
        const bytes = batch.encoded(at);
        if (bytes.length > this.#host.answerBytesMax) throw answerTooLarge(bytes.length, this.#host.answerBytesMax);
        if (!(writer.add(bytes) || (await writer.flush()))) return false;
      }
      if (!(await writer.flush())) return false;
    }
    return true;
  }

  async #serveMessages(method: OperatorMethod, { admitted, host, request }: DirectContext): Promise<void> {
    const requests = messagesOf(this.#stream, { encoding: encodingOf(this.#request), idleMsMax: this.#host.idleMsMax });
    const writer = this.#writer(admitted);
    for await (const bytes of method(requests, { host, request, signal: request.signal })) {
      if (this.#status !== undefined) return;
      if (!this.#stream.headersSent) {
        this.#respond({});
        admitted.track(this);
      }
      writer.add(bytes);
      if (!(await writer.flush())) return;
    }
    if (!this.#stream.headersSent && this.#status === undefined) this.#respond({});
    this.#end(OK);
  }

  #writer(admitted: AdmittedCall | undefined): DirectWriter {
    return new DirectWriter(this.#stream, {
      isCompressed: compressesAnswers(this.#request),
      idleMsMax: this.#host.idleMsMax,
      unsent: (cut) => this.#host.unsent(admitted?.callerKey, cut),
    });
  }

  /** Reads the only message of the request. */
  async #read(admitted: AdmittedCall): Promise<Uint8Array> {
    const { requestBytesMax } = this.#host;
    const encoding = encodingOf(this.#request);
    const body = await framedBody(admitted.httpRequest, requestBytesMax);
    return await messageIn(onlyFrame(body, requestBytesMax), encoding, requestBytesMax);
  }

  #respond(headers: ResponseMetadata): void {
    if (this.#stream.destroyed || this.#stream.closed || this.#stream.headersSent) return;
    // `once`, because a closed stream stays in memory for a while, and must not keep the call.
    this.#stream.once('wantTrailers', () => {
      this.#stream.sendTrailers(trailersOf(this.#status ?? OK));
      this.#stopSending();
    });
    this.#stream.respond(
      { ...this.#head(), ...headers, ...(compressesAnswers(this.#request) ? { 'grpc-encoding': 'gzip' } : {}) },
      { waitForTrailers: true },
    );
  }

  #head(): OutgoingHttpHeaders {
    const told = this.#request.forwarded?.answerHeaders();
    return { ':status': 200, 'content-type': 'application/grpc', 'x-request-id': this.#host.requestId(this.#request), ...told };
  }

  #statusOf(thrown: unknown): CallStatus {
    const error = toCallerError(thrown, this.#admitted ?? {});
    return { ...statusOf(error), metadata: lowerCased(errorHeaders(error)) };
  }

  /** Ends the call. Only the first status counts. Before the first message, headers and status are one block. */
  #end(status: CallStatus): void {
    if (this.#status !== undefined) return;
    this.#status = status;
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    if (stream.headersSent) {
      stream.end();
      const { writableLength } = stream;
      if (writableLength > PIECE_BYTES) this.watchEnd();
      else if (writableLength > 0) SMALL_ANSWERS.add(this);
    } else {
      const headers = { ...this.#head(), ...trailersOf(status) };
      stream.respond(status.code === UNIMPLEMENTED ? { ...headers, 'grpc-accept-encoding': ACCEPTED_ENCODINGS } : headers, {
        endStream: true,
      });
      this.#stopSending();
    }
  }

  /** The client may still be sending: it must stop, but not lose the status, which is on its way. */
  #stopSending(): void {
    const stream = this.#stream;
    if (stream.readableEnded) return;
    stream.resume();
    setImmediate(() => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  #closed(): void {
    clearTimeout(this.#deadline);
    SMALL_ANSWERS.delete(this);
    const isWhole = this.#status?.code === OK.code && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR;
    this.#status ??= CANCELLED;
    if (this.#request.elsewhere?.cell !== undefined) return;
    this.#admitted?.ended(this.#status.code, this.#status.message);
    if (isWhole) this.#request.delivered?.();
    this.#listener?.(this);
  }
}

function okWith(trailers: ResponseMetadata | undefined): CallStatus {
  return trailers === undefined ? OK : { ...OK, metadata: trailers };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const OK_TRAILERS: OutgoingHttpHeaders = writeStatus(OK);

function trailersOf(status: CallStatus): OutgoingHttpHeaders {
  return status === OK ? OK_TRAILERS : { ...status.metadata, ...writeStatus(status) };
}
