import type { CallContext, Logged, Operation, ReadEnv, Requests, Results, StreamOperation, UnaryOperation } from '#protocol';
import { A2AError, isA2AError, withoutEndSlashes } from '#protocol';
import { ChunkJoiner } from '../chunk-joiner.ts';
import { unsupported } from '../codec.ts';
import { CutOff, TooLarge } from '../failures.ts';
import type { LinkResponse } from '../link-http.ts';
import { aborted, lastEventId, requestHeaders, send, statusError } from '../link-http.ts';
import type { LinkOptions, LinkTransport } from '../link-service.ts';
import { linkEnv } from '../link-service.ts';
import { isMediaType } from '../media.ts';
import type { ProtoCodec } from './adapters/codec.ts';
import { codecOf, errorOfStatus } from './adapters/driver.ts';
import { readFrames } from './frames.ts';
import { GRPC_TYPE, GRPC_WEB_TYPE } from './media-types.ts';
import { SEQ_EXTENSION } from './seq.ts';
import type { GrpcFrame, GrpcStatus } from './wire.ts';
import { FrameTooLarge, messageFrame, readStatus, readTrailers, timeoutText, WrongFlags } from './wire.ts';

/** 16 MiB. */
const DEFAULT_BYTES_MAX = 16_777_216;

/** The calls of a gRPC link. */
export function openTransport(options: LinkOptions): LinkTransport {
  const driver = openDriver(options);
  return {
    unary: (operation, request, ctx) => call(operation, request, { driver, options, ctx }),
    stream: (operation, request, ctx) => events(operation, request, { driver, options, ctx }),
  };
}

interface Driver {
  readonly codec: ProtoCodec;
  readonly env: ReadEnv;
  errorOfStatus(status: GrpcStatus): A2AError;
}

interface Calling {
  readonly driver: Driver;
  readonly options: LinkOptions;
  readonly ctx: CallContext;
}

function openDriver(options: LinkOptions): Driver {
  const codec = codecOf(options.dialect);
  if (codec === undefined) throw new A2AError('UNSUPPORTED_OPERATION', `${options.dialect.title} has no gRPC form`);
  return { codec, env: linkEnv(options), errorOfStatus: (status) => errorOfStatus(status, options.dialect.error.read) };
}

async function call<Op extends UnaryOperation>(operation: Op, request: Requests[Op], calling: Calling): Promise<Results[Op]> {
  const { driver, options, ctx } = calling;
  const from = await go(operation, request, calling);
  const limits = { bytesMax: options.answerBytesMax ?? DEFAULT_BYTES_MAX, option: 'answerBytesMax', what: 'answer' } as const;
  let message: Uint8Array | undefined;
  const status = await ended(
    from,
    (frames) => {
      message ??= frames.find(({ isTrailers }) => !isTrailers)?.bytes;
    },
    { ctx, limits, idleMs: options.idleMs },
  );
  if (status.code !== 0) throw driver.errorOfStatus(status);
  if (message === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', 'the response has no message');
  return driver.codec.decodeResult(operation, message, driver.env);
}

interface Ending {
  readonly ctx: CallContext;
  readonly limits: ReadLimits;
  readonly idleMs: number | undefined;
}

/** Reads a whole response. Returns its status. */
async function ended(from: LinkResponse, take: (frames: readonly GrpcFrame[]) => void, ending: Ending): Promise<GrpcStatus> {
  const early = statusAtOnce(from);
  if (early !== undefined) return early;
  let status: GrpcStatus | undefined;
  try {
    for await (const frames of framesOf(from, ending)) {
      take(frames);
      status ??= statusIn(frames);
    }
  } catch (thrown) {
    throw failure(thrown, ending);
  }
  return status ?? cutOff(ending);
}

/** Opens a stream. Yields one batch for each network chunk. */
async function* events<Op extends StreamOperation>(
  operation: Op,
  request: Requests[Op],
  { driver, options, ctx }: Calling,
): AsyncGenerator<readonly Logged[], void> {
  const numbered = { ...ctx, extensions: [...ctx.extensions.filter((uri) => uri !== SEQ_EXTENSION), SEQ_EXTENSION] };
  const from = await go(operation, request, { driver, options, ctx: numbered });
  const early = statusAtOnce(from);
  if (early !== undefined && early.code !== 0) throw driver.errorOfStatus(early);
  if (early !== undefined) return;
  const limits = { bytesMax: options.eventBytesMax ?? DEFAULT_BYTES_MAX, option: 'eventBytesMax', what: 'stream' } as const;
  const ending: Ending = { ctx, limits, idleMs: options.idleMs };
  const joiner = new ChunkJoiner();
  let status: GrpcStatus | undefined;
  try {
    for await (const frames of framesOf(from, ending)) {
      const { batch, problem } = gather(frames, driver);
      if (batch.length > 0) yield joiner.join(batch);
      if (problem !== undefined) throw problem;
      status ??= statusIn(frames);
    }
  } catch (thrown) {
    throw failure(thrown, ending);
  }
  const last = status ?? cutOff(ending);
  if (last.code !== 0) throw driver.errorOfStatus(last);
}

/** Events before one that can't be read are kept, because they did happen. */
function gather(frames: readonly GrpcFrame[], { codec, env }: Driver): { readonly batch: readonly Logged[]; readonly problem?: unknown } {
  const batch: Logged[] = [];
  try {
    for (const { bytes, isTrailers } of frames) if (!isTrailers) batch.push(codec.decodeEvent(bytes, env));
    return { batch };
  } catch (problem) {
    return { batch, problem };
  }
}

/** Sends one request. */
async function go<Op extends Operation>(operation: Op, request: Requests[Op], { driver, options, ctx }: Calling): Promise<LinkResponse> {
  const { codec } = driver;
  const method = codec.methodOf(operation);
  if (method === undefined) throw unsupported(operation, { title: codec.service.typeName });
  const body = messageFrame(codec.encodeRequest(operation, request));
  const facts = { accept: GRPC_WEB_TYPE, hasBody: true, resumeAfter: lastEventId(operation, request) };
  const headers: Record<string, string> = {
    ...(await requestHeaders(facts, options, ctx)),
    'Content-Type': GRPC_WEB_TYPE,
    'X-Grpc-Web': '1',
  };
  if (method.methodKind === 'unary') Object.assign(headers, deadlineOf(options));
  const url = `${withoutEndSlashes(options.url)}/${codec.service.typeName}/${method.name}`;
  return await send({ url, method: 'POST', headers, body }, options, ctx);
}

/** Some servers take a longer deadline for none, others for one that has passed. */
const DEADLINE_MS_MAX = 86_400_000;

/** The deadline of a call with one answer. That of a stream would end it while it works. */
function deadlineOf({ timeoutMs }: LinkOptions): Record<string, string> {
  return timeoutMs === undefined || timeoutMs > DEADLINE_MS_MAX ? {} : { 'grpc-timeout': timeoutText(timeoutMs) };
}

/** The status of a response without a body, which has it in its headers. Throws if the response is not one of gRPC. */
function statusAtOnce({ response, timer }: LinkResponse): GrpcStatus | undefined {
  const status = readStatus((name) => response.headers.get(name) ?? undefined);
  if (status !== undefined) {
    timer.stop();
    void response.body?.cancel().catch(() => undefined); // nothing of interest follows
    return status;
  }
  if (
    response.ok &&
    isMediaType(response.headers.get('content-type'), [GRPC_WEB_TYPE, GRPC_TYPE, 'application/grpc-web', 'application/grpc'])
  )
    return undefined;
  timer.stop();
  void response.body?.cancel().catch(() => undefined);
  throw statusError(response, 'a gRPC answer');
}

interface ReadLimits {
  readonly bytesMax: number;
  readonly option: TooLarge['option'];
  readonly what: CutOff['what'];
}

function framesOf({ response, timer }: LinkResponse, { ctx, limits, idleMs }: Ending): AsyncGenerator<readonly GrpcFrame[], void> {
  timer.stop();
  return readFrames(response.body, limits.bytesMax, { signal: ctx.signal, idleMs });
}

function statusIn(frames: readonly GrpcFrame[]): GrpcStatus | undefined {
  const last = frames.at(-1);
  if (last?.isTrailers !== true) return undefined;
  const trailers = readTrailers(last.bytes);
  return readStatus((name) => trailers.get(name));
}

function cutOff({ ctx, limits }: Ending): never {
  if (ctx.signal.aborted) throw aborted(ctx);
  throw new A2AError('UNAVAILABLE', `the ${limits.what} was cut off`, { cause: new CutOff(limits.what, undefined) });
}

function failure(thrown: unknown, { ctx, limits }: Ending): A2AError {
  if (ctx.signal.aborted) return aborted(ctx);
  if (isA2AError(thrown)) return thrown;
  if (thrown instanceof FrameTooLarge)
    return new A2AError('INVALID_AGENT_RESPONSE', `the ${limits.what} has ${thrown.message}; the maximum is ${limits.bytesMax}`, {
      cause: new TooLarge(limits.option),
    });
  if (thrown instanceof WrongFlags)
    return new A2AError('INVALID_AGENT_RESPONSE', `the ${limits.what} has ${thrown.message}`, { cause: thrown });
  return new A2AError('UNAVAILABLE', `the ${limits.what} was cut off`, { cause: new CutOff(limits.what, thrown) });
}
