import type {
  A2AService,
  CallContext,
  Dialect,
  Logged,
  Operation,
  ReadEnv,
  Requests,
  Results,
  RpcId,
  StreamOperation,
  StreamReader,
  UnaryOperation,
} from '#protocol';
import { A2AError, isObject } from '#protocol';
import { decodeResult, encodeRequest, unreadable, unsupported } from '../codec.ts';
import { incomingEvents, isEventStream } from '../incoming.ts';
import type { LinkRequest, LinkResponse } from '../link-http.ts';
import { lastEventId, readResponseBody, requestHeaders, send, statusError } from '../link-http.ts';
import type { LinkHeaders, LinkOptions } from '../link-service.ts';
import { linkEnv, linkService } from '../link-service.ts';
import { JSON_TYPE } from '../media.ts';
import { EVENT_STREAM } from '../sse.ts';
import { readAnswer, requestText } from './wire.ts';

/**
 * An `A2AService` that calls a remote agent over JSON-RPC, in any dialect.
 *
 * ```ts
 * const link = jsonRpcLink({ url: 'https://agent.example/a2a', dialect, fetch: (request) => fetch(request) });
 * const task = await link.get({ id }, ctx);
 * ```
 */
export function jsonRpcLink(options: LinkOptions): A2AService {
  let last = 0;
  const nextId = (): number => {
    last += 1; // every peer accepts numbers as ids
    return last;
  };
  const link = { options, dialect: options.dialect, env: linkEnv(options), nextId };
  return linkService(
    {
      unary: (operation, request, ctx) => call(operation, request, { link, ctx }),
      stream: (operation, request, ctx) => events(operation, request, { link, ctx }),
    },
    options,
  );
}

interface Link {
  readonly options: LinkOptions;
  readonly dialect: Dialect;
  readonly env: ReadEnv;
  readonly nextId: () => number;
}

interface Calling {
  readonly link: Link;
  readonly ctx: CallContext;
}

async function call<Op extends UnaryOperation>(operation: Op, request: Requests[Op], calling: Calling): Promise<Results[Op]> {
  const { id, outgoing } = prepare(operation, request, { ...calling, accept: JSON_TYPE });
  const { options } = calling.link;
  const answer = await send(outgoing instanceof Promise ? await outgoing : outgoing, options, calling.ctx);
  return decodeResult(operation, await resultOf(answer, id, calling), calling.link);
}

/** Opens a stream. Yields one batch for each network chunk. */
async function* events<Op extends StreamOperation>(
  operation: Op,
  request: Requests[Op],
  calling: Calling,
): AsyncGenerator<readonly Logged[], void> {
  const { link, ctx } = calling;
  const { options, dialect } = link;
  const { id, outgoing } = prepare(operation, request, { ...calling, accept: EVENT_STREAM });
  const answer = await send(await outgoing, options, ctx);
  const reader = dialect.openReader(link.env);
  if (!isEventStream(answer.response)) {
    yield onlyEvents(await resultOf(answer, id, calling), reader, link);
    return;
  }
  yield* incomingEvents(answer, { reader, unwrap: (frame, name) => unwrap(frame, name, dialect), options, ctx });
}

/**
 * Removes the JSON-RPC envelope of a frame. Some dialects mix enveloped and bare frames in one stream,
 * and peers differ.
 */
function unwrap(frame: unknown, name: string | undefined, dialect: Dialect): unknown {
  if (!isObject(frame)) return frame;
  if (isObject(frame['error'])) throw dialect.error.read(frame['error']);
  if (name === 'error') throw dialect.error.read(frame);
  return frame['jsonrpc'] === '2.0' && 'result' in frame ? frame['result'] : frame;
}

/**
 * The events of a response that is not a stream: some agents answer a stream request with a plain
 * result.
 */
function onlyEvents(result: unknown, reader: StreamReader, { dialect, env }: Link): readonly Logged[] {
  const whole = dialect.decode('send.result', result, env);
  if (whole.ok) return [{ event: whole.value }];
  const read = reader.read(result);
  if (read.ok) return read.value.map((event) => ({ event }));
  throw unreadable(read);
}

interface Prepared {
  readonly id: RpcId;
  readonly outgoing: LinkRequest | Promise<LinkRequest>;
}

/** Encodes the request. Synchronous unless the headers have to be fetched first, for example a token. */
function prepare<Op extends Operation>(
  operation: Op,
  given: Requests[Op],
  { link, ctx, accept }: Calling & { readonly accept: string },
): Prepared {
  const { options, dialect, nextId } = link;
  const method = dialect.methods[operation];
  if (method === undefined) throw unsupported(operation, dialect);
  const { params, rpcId } = encodeRequest(operation, given, dialect);
  const id = rpcId ?? nextId();
  const body = requestText(id, method, params);
  const posted = (headers: LinkHeaders): LinkRequest => ({ url: options.url, method: 'POST', headers, body });
  const headers = requestHeaders({ accept, hasBody: true, resumeAfter: lastEventId(operation, given) }, options, ctx);
  return { id, outgoing: headers instanceof Promise ? headers.then(posted) : posted(headers) };
}

/**
 * The result in a response. An error in the body takes precedence over the HTTP status, because peers
 * use different statuses.
 */
async function resultOf(from: LinkResponse, id: RpcId, { link, ctx }: Calling): Promise<unknown> {
  const { response } = from;
  const { parsed } = await readResponseBody(from, link.options, ctx);
  const answer = parsed.ok ? readAnswer(parsed.value) : undefined;
  if (answer?.kind === 'error') throw link.dialect.error.read(answer.error);
  if (answer?.kind !== 'result' || !response.ok) throw statusError(response, 'a JSON-RPC answer');
  if (answer.id !== undefined && answer.id !== null && answer.id !== id) {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'the response has the id of another request');
  }
  return answer.result;
}
