import type { EventStream, Logged, StreamOperation, UnaryOperation } from '#protocol';
import type { HttpRequest } from '../../http.ts';
import type { AdmittedCall, GrpcHost } from '../host.ts';
import { checkMembers } from './members.ts';
import type { OperatorMethod } from './operator-methods.ts';
import { OPERATOR_METHODS } from './operator-services.ts';
import type { ServedMethod } from './serve-call.ts';
import { callStream, callUnary, methodAt, serveCall } from './serve-call.ts';

/** What a method knows of its call. */
export interface DirectContext {
  readonly host: GrpcHost;
  readonly request: HttpRequest;
  readonly admitted: AdmittedCall;
}

/** Metadata of a response, by names in lower case. */
export type ResponseMetadata = Readonly<Record<string, string | string[]>>;

/** The only message of a response. */
export interface DirectAnswer {
  readonly bytes: Uint8Array;
  readonly headers: ResponseMetadata;
  readonly trailers?: ResponseMetadata;
}

/** Messages that are ready to be sent. They are encoded one by one. */
export interface MessageBatch {
  readonly length: number;
  encoded(at: number): Uint8Array;
}

/** The messages of a response. */
export interface DirectStream {
  readonly headers: ResponseMetadata;
  readonly trailers?: ResponseMetadata;
  readonly batches: AsyncIterator<MessageBatch, unknown>;
}

/**
 * A method on the bytes of its messages. `unary`: one message, one answer. `stream`: one message,
 * several answers. `messages`: several of both.
 */
export type DirectMethod =
  | { readonly kind: 'unary'; call(message: Uint8Array, context: DirectContext): Promise<DirectAnswer> }
  | { readonly kind: 'stream'; open(message: Uint8Array, context: DirectContext): DirectStream }
  | { readonly kind: 'messages'; readonly call: OperatorMethod };

/** Finds the method at a path. Undefined: there is none. */
export type DirectMethods = (path: string) => DirectMethod | undefined;

/** The methods of A2A, health checks and reflection. */
export const A2A_METHODS: DirectMethods = (path) => {
  const method = methodAt(path);
  if (method !== undefined) return method.streams ? streamMethod(method) : unaryMethod(method);
  const operator = OPERATOR_METHODS.get(path.slice(1));
  return operator === undefined ? undefined : { kind: 'messages', call: operator };
};

function unaryMethod(method: ServedMethod<UnaryOperation>): DirectMethod {
  return {
    kind: 'unary',
    call: async (message, context) => {
      const call = served(method, message, context);
      const bytes = method.codec.encodeResult(method.operation, await callUnary(call));
      context.admitted.recording?.result(method.codec.show(method.operation, 'output', bytes));
      return { bytes, headers: call.headers };
    },
  };
}

function streamMethod(method: ServedMethod<StreamOperation>): DirectMethod {
  return {
    kind: 'stream',
    open: (message, context) => {
      const call = served(method, message, context);
      const events = callStream(call, context.request)[Symbol.asyncIterator]();
      const { recording } = context.admitted;
      const encode = (logged: Logged): Uint8Array => {
        const bytes = method.codec.encodeEvent(logged, call.withSeq);
        recording?.event(method.codec.show(method.operation, 'output', bytes));
        return bytes;
      };
      return { headers: call.headers, batches: encoding(events, encode) };
    },
  };
}

function served<Op extends UnaryOperation | StreamOperation>(
  method: ServedMethod<Op>,
  message: Uint8Array,
  { request, admitted, host }: DirectContext,
): ReturnType<typeof serveCall<Op>> {
  const input = method.codec.methodOf(method.operation)?.input;
  if (input !== undefined) checkMembers(input, message, host.requestMembersMax);
  admitted.recording?.request(method.codec.show(method.operation, 'input', message));
  const head = { httpRequest: request, admitted, signal: request.signal };
  return serveCall(method, head, (env) => method.codec.decodeRequest(method.operation, message, env));
}

function encoding(
  events: ReturnType<EventStream[typeof Symbol.asyncIterator]>,
  encode: (logged: Logged) => Uint8Array,
): DirectStream['batches'] {
  return {
    next: async () => {
      const { done, value } = await events.next();
      return done === true ? { done: true, value: undefined } : { done: false, value: new LoggedBatch(value, encode) };
    },
    return: async () => {
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
}

class LoggedBatch implements MessageBatch {
  readonly #entries: readonly Logged[];
  readonly #encode: (logged: Logged) => Uint8Array;

  constructor(entries: readonly Logged[], encode: (logged: Logged) => Uint8Array) {
    this.#entries = entries;
    this.#encode = encode;
  }

  get length(): number {
    return this.#entries.length;
  }

  encoded(at: number): Uint8Array {
    const logged = this.#entries[at];
    if (logged === undefined) throw new RangeError(`no event ${at}`);
    return this.#encode(logged);
  }
}
