import type {
  A2AService,
  CallContext,
  Json,
  Logged,
  Operation,
  Requests,
  Results,
  RpcId,
  Shape,
  Shapes,
  StreamOperation,
  StreamReader,
  UnaryOperation,
} from '#protocol';
import { A2AError } from '#protocol';
import { incomingEvents, isEventStream } from '../incoming.ts';
import { JSON_TYPE } from '../media.ts';
import type { LinkOptions } from '../outward.ts';
import {
  DEFAULT_EVENT_BYTES_MAX,
  decodeResult,
  linkEnv,
  named,
  readAnswerBody,
  requestHeaders,
  send,
  serviceOver,
  statusError,
  unreadable,
  unsupported,
} from '../outward.ts';
import { EVENT_STREAM } from '../sse.ts';
import { isObject, readAnswer, requestText } from './wire.ts';

/** A remote agent that speaks JSON-RPC in any dialect, as an `A2AService`. */
export function jsonRpcLink(options: LinkOptions): A2AService {
  let last = 0;
  const nextId = (): number => {
    last += 1; // numbers are the one kind of id that every peer takes
    return last;
  };
  return serviceOver({
    unary: (operation, request, ctx) => call(operation, request, { options, ctx, nextId }),
    stream: (operation, request, ctx) => events(operation, request, { options, ctx, nextId }),
  });
}

interface Calling {
  readonly options: LinkOptions;
  readonly ctx: CallContext;
  readonly nextId: () => number;
}

async function call<Op extends UnaryOperation>(operation: Op, request: Requests[Op], calling: Calling): Promise<Results[Op]> {
  const { id, response } = await post(operation, request, { ...calling, accept: JSON_TYPE });
  const result = await resultOf(response, id, calling);
  return decodeResult(operation, result, calling.options);
}

async function* events<Op extends StreamOperation>(
  operation: Op,
  request: Requests[Op],
  calling: Calling,
): AsyncGenerator<readonly Logged[], void> {
  const { options, ctx } = calling;
  const { dialect } = options;
  const { id, response } = await post(operation, request, { ...calling, accept: EVENT_STREAM });
  const reader = dialect.openReader(linkEnv(options));
  if (!isEventStream(response)) {
    yield onlyEvents(await resultOf(response, id, calling), reader, options);
    return;
  }
  yield* incomingEvents(response, {
    reader,
    unwrap: (frame, name) => unwrap(frame, name, options),
    eventBytesMax: options.eventBytesMax ?? DEFAULT_EVENT_BYTES_MAX,
    idleMs: options.idleMs,
    ctx,
  });
}

/** Frames come in a JSON-RPC envelope or bare: a dialect can mix both in one stream, and peers differ. */
function unwrap(frame: unknown, name: string | undefined, { dialect }: LinkOptions): unknown {
  if (!isObject(frame)) return frame;
  if (isObject(frame['error'])) throw dialect.error.read(frame['error']);
  if (name === 'error') throw dialect.error.read(frame);
  return frame['jsonrpc'] === '2.0' && 'result' in frame ? frame['result'] : frame;
}

/** Some agents answer a call for a stream with the result itself. */
function onlyEvents(result: unknown, reader: StreamReader, options: LinkOptions): readonly Logged[] {
  const whole = options.dialect.decode('send.result', result, linkEnv(options));
  if (whole.ok) return [{ event: whole.value }];
  const read = reader.read(result);
  if (read.ok) return read.value.map((event) => ({ event }));
  throw unreadable(read);
}

async function post<Op extends Operation>(
  operation: Op,
  given: Requests[Op],
  { options, ctx, nextId, accept }: Calling & { readonly accept: string },
): Promise<{ readonly id: RpcId; readonly response: Response }> {
  const { dialect } = options;
  const method = dialect.methods[operation];
  if (method === undefined) throw unsupported(operation, dialect);
  const shape = `${operation}.request` as Shape;
  const request = named(operation, given, options) as unknown as Shapes[Shape];
  const params: Json = dialect.encode(shape, request);
  const id = dialect.rpcId?.(shape, request) ?? nextId();
  const after = operation === 'subscribe' ? (given as Requests['subscribe']).after : undefined;
  const headers = {
    'Content-Type': JSON_TYPE,
    Accept: accept,
    ...(after === undefined ? {} : { 'Last-Event-ID': String(after) }),
    ...(await requestHeaders(options, ctx)),
  };
  const response = await send({ url: options.url, method: 'POST', headers, body: requestText(id, method, params) }, options, ctx);
  return { id, response };
}

/** The result in an answer. An error in its body is believed before its HTTP status: peers differ in those. */
async function resultOf(response: Response, id: RpcId, { options, ctx }: Calling): Promise<unknown> {
  const body = await readAnswerBody(response, options, ctx);
  const answer = body.ok ? readAnswer(body.value) : undefined;
  if (answer?.kind === 'error') throw options.dialect.error.read(answer.error);
  if (answer?.kind !== 'result' || !response.ok) throw statusError(response, 'a JSON-RPC answer');
  if (answer.id !== undefined && answer.id !== null && answer.id !== id) {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'the answer is to another request');
  }
  return answer.result;
}
