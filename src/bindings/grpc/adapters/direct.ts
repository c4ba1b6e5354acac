import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { EventStream, Logged, StreamOperation, UnaryOperation } from '#protocol';
import { A2AError } from '#protocol';
import type { HttpRequest } from '../../http.ts';
import { requestBytes } from '../../request-body.ts';
import { errorHeaders, toCallerError } from '../../responses.ts';
import { FRAME_HEAD_BYTES, framed, onlyFrame } from '../framing.ts';
import type { AdmittedCall, GrpcHost, TrackedCall } from '../host.ts';
import { DEADLINE_EXCEEDED, timeoutMs } from '../host.ts';
import type { GrpcStatus } from '../wire.ts';
import { writeStatus } from '../wire.ts';
import { ACCEPTED_ENCODINGS, compressed, encodingOf, messageIn } from './compression.ts';
import { DirectWriter } from './direct-writer.ts';
import { checkMembers } from './members.ts';
import type { OperatorMethod } from './operator-methods.ts';
import { StatusError } from './operator-methods.ts';
import { OPERATOR_METHODS } from './operator-services.ts';
import { messagesOf } from './request-messages.ts';
import type { ServedCall, ServedMethod } from './serve-call.ts';
import { answerTooLarge, callStream, callUnary, methodAt, serveCall } from './serve-call.ts';
import { statusOf } from './status.ts';

/** A request on an HTTP/2 stream. */
export interface DirectRequest extends HttpRequest {
  /** Called when the complete response has been sent. */
  readonly delivered: (() => void) | undefined;
}

/** A status with metadata of the response. */
interface CallStatus extends GrpcStatus {
  readonly metadata?: Readonly<Record<string, string>>;
}

const OK: CallStatus = { code: 0, message: '' };
const CANCELLED: CallStatus = { code: 1, message: '' };
const UNIMPLEMENTED = 12;
const EXPIRED: CallStatus = { code: DEADLINE_EXCEEDED, message: 'the deadline of the call has passed' };

/**
 * Serves one gRPC call on a stream of `node:http2`. Connect serves the same calls at four times the
 * cost, so it serves only gRPC-Web and its own protocol.
 */
export function serveDirect(stream: ServerHttp2Stream, request: DirectRequest, host: GrpcHost): Promise<void> {
  return new DirectCall(stream, request, host).run();
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
    stream.once('close', () => this.#closed());
  }

  async run(): Promise<void> {
    try {
      this.#watchDeadline();
      const admitting = this.#host.admit(this.#request);
      const admitted = admitting instanceof Promise ? await admitting : admitting;
      this.#admitted = admitted;
      const { path } = this.#request;
      const method = methodAt(path);
      if (method === undefined) await this.#serveOperator(path, admitted);
      else if (method.streams) await this.#serveStream(method, admitted);
      else await this.#serveUnary(method, admitted);
    } catch (thrown) {
      this.#end(thrown instanceof StatusError ? { code: thrown.code, message: thrown.message } : this.#statusOf(thrown));
    }
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

  async #serveUnary(method: ServedMethod<UnaryOperation>, admitted: AdmittedCall): Promise<void> {
    const call = await this.#read(method, admitted);
    const result = method.codec.encodeResult(method.operation, await callUnary(call));
    admitted.recording?.result(method.codec.show(method.operation, 'output', result));
    const { answerBytesMax } = this.#host;
    if (result.length > answerBytesMax) throw answerTooLarge(result.length, answerBytesMax);
    if (this.#status !== undefined) return; // the deadline has passed, or the caller has disconnected
    const isCompressed = encodingOf(this.#request) !== undefined;
    const answer = isCompressed ? await compressed([result]) : framed([result]);
    this.#respond(call.headers);
    this.#stream.write(answer);
    this.#end(OK);
    if (this.#stream.writableLength > 0) this.#writer(admitted).watchEnd();
  }

  async #serveStream(method: ServedMethod<StreamOperation>, admitted: AdmittedCall): Promise<void> {
    const call = await this.#read(method, admitted);
    const events = callStream(call, this.#request)[Symbol.asyncIterator]();
    try {
      const first = await events.next();
      if (this.#status !== undefined) return;
      this.#respond(call.headers);
      admitted.track(this);
      await this.#pump(call, { first, events });
    } finally {
      void events.return?.().then(undefined, () => undefined); // the caller has the status already
    }
  }

  /** Writes the events of each batch in large pieces, the next batch when the client has taken the last one. */
  async #pump({ method, withSeq }: ServedCall<StreamOperation>, { first, events }: OpenedEvents): Promise<void> {
    const writer = this.#writer(this.#admitted);
    for (let next = first; next.done !== true; next = await events.next()) {
      if (this.#status !== undefined) return;
      for (const logged of next.value) {
        const bytes = method.codec.encodeEvent(logged, withSeq);
        this.#admitted?.recording?.event(method.codec.show(method.operation, 'output', bytes));
        if (bytes.length > this.#host.answerBytesMax) throw answerTooLarge(bytes.length, this.#host.answerBytesMax);
        if (!(writer.add(bytes) || (await writer.flush()))) return;
      }
      if (!(await writer.flush())) return;
    }
    this.#end(OK);
  }

  async #serveOperator(path: string, admitted: AdmittedCall): Promise<void> {
    const method = OPERATOR_METHODS.get(path.slice(1));
    if (method === undefined) throw new A2AError('METHOD_NOT_FOUND', `unknown method ${path.slice(0, 100)}`);
    const encoding = encodingOf(this.#request);
    const requests = messagesOf(this.#stream, { encoding, idleMsMax: this.#host.idleMsMax });
    await this.#answerOperator(method(requests, { host: this.#host, signal: this.#request.signal }), admitted);
  }

  async #answerOperator(answers: ReturnType<OperatorMethod>, admitted: AdmittedCall): Promise<void> {
    const writer = this.#writer(admitted);
    for await (const bytes of answers) {
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
      isCompressed: encodingOf(this.#request) !== undefined,
      idleMsMax: this.#host.idleMsMax,
      unsent: (cut) => this.#host.unsent(admitted?.callerKey, cut),
    });
  }

  /** Reads the only message of the request. */
  async #read<Op extends UnaryOperation | StreamOperation>(method: ServedMethod<Op>, admitted: AdmittedCall): Promise<ServedCall<Op>> {
    const { requestBytesMax } = this.#host;
    const encoding = encodingOf(this.#request);
    const body = await requestBytes(admitted.httpRequest, requestBytesMax + FRAME_HEAD_BYTES);
    const message = messageIn(onlyFrame(body, requestBytesMax), encoding, requestBytesMax);
    const bytes = message instanceof Promise ? await message : message;
    const input = method.codec.methodOf(method.operation)?.input;
    if (input !== undefined) checkMembers(input, bytes, this.#host.requestMembersMax);
    admitted.recording?.request(method.codec.show(method.operation, 'input', bytes));
    const head = { httpRequest: this.#request, admitted, signal: this.#request.signal };
    return serveCall(method, head, (env) => method.codec.decodeRequest(method.operation, bytes, env));
  }

  #respond(headers: Readonly<Record<string, string>>): void {
    if (this.#stream.destroyed || this.#stream.headersSent) return;
    const encoding = encodingOf(this.#request);
    this.#stream.once('wantTrailers', () => {
      this.#stream.sendTrailers(trailersOf(this.#status ?? OK));
      this.#stopSending();
    });
    this.#stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', ...headers, ...(encoding === undefined ? {} : { 'grpc-encoding': encoding }) },
      { waitForTrailers: true },
    );
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
    if (stream.destroyed) return;
    if (stream.headersSent) stream.end();
    else {
      const headers = { ':status': 200, 'content-type': 'application/grpc', ...trailersOf(status) };
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
    const isWhole = this.#status === OK && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR;
    this.#status ??= CANCELLED;
    this.#admitted?.ended(this.#status.code, this.#status.message);
    if (isWhole) this.#request.delivered?.();
    this.#listener?.(this);
  }
}

interface OpenedEvents {
  readonly first: IteratorResult<readonly Logged[], unknown>;
  readonly events: ReturnType<EventStream[typeof Symbol.asyncIterator]>;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function trailersOf({ metadata, ...status }: CallStatus): OutgoingHttpHeaders {
  return { ...metadata, ...writeStatus(status) };
}
