import type { DescMethodServerStreaming, DescMethodUnary, JsonObject, Message } from '@bufbuild/protobuf';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import { ConnectError } from '@connectrpc/connect';
import { CALL, isServerStreaming, isUnary } from '../../../src/bindings/grpc/adapters/connect.ts';
import type { DirectContext, DirectMethod, MessageBatch } from '../../../src/bindings/grpc/adapters/direct-methods.ts';
import { StatusSchema } from '../../../src/bindings/grpc/adapters/generated/google_rpc_pb.ts';
import { badMessage, StatusError } from '../../../src/bindings/grpc/adapters/operator-methods.ts';
import { timeoutMs } from '../../../src/bindings/grpc/host.ts';
import type { GrpcServices } from '../../../src/server/adapters/node/grpc-port.ts';
import type { Plan } from './plan.ts';
import { detailsOf, payloadOf, planOf } from './plan.ts';
import type { SuiteSchema } from './schema.ts';

/** The suite's service, on both roads. It does what each request asks for. */
export function suiteServices(schema: SuiteSchema): GrpcServices {
  const { service } = schema;
  const direct = new Map<string, DirectMethod>([
    [`/${service.typeName}/Unary`, directUnary(schema)],
    [`/${service.typeName}/ServerStream`, directStream(schema)],
  ]);
  return {
    names: [service.typeName],
    methods: (path) => direct.get(path),
    addMethods: (router) => {
      const options = { jsonOptions: { registry: schema.registry } };
      for (const method of service.methods) {
        if (method.name === 'Unary' && isUnary(method)) {
          router.rpc<DescMethodUnary>(method, (message, context) => connectUnary(schema, message, context), options);
        } else if (isServerStreaming(method)) {
          router.rpc<DescMethodServerStreaming>(method, (message, context) => connectStream(schema, message, context), options);
        }
      }
    },
  };
}

function directPlan(schema: SuiteSchema, name: string, bytes: Uint8Array, { request }: DirectContext): Plan {
  let message: JsonObject;
  try {
    message = schema.read(name, bytes);
  } catch (cause) {
    throw badMessage(cause);
  }
  const timeout = request.header('grpc-timeout');
  const ms = timeout === undefined ? undefined : timeoutMs(timeout);
  return planOf(schema, name, message, { header: (each) => request.header(each), timeoutMs: ms });
}

function directUnary(schema: SuiteSchema): DirectMethod {
  return {
    kind: 'unary',
    call: async (bytes, context) => {
      const plan = directPlan(schema, 'UnaryRequest', bytes, context);
      await paused(plan, context.request.signal);
      if (plan.error !== undefined) throw statusError(schema, plan, false);
      return { bytes: schema.write('UnaryResponse', payloadOf(plan, 0)), headers: plan.headers, trailers: plan.trailers };
    },
  };
}

function directStream(schema: SuiteSchema): DirectMethod {
  return {
    kind: 'stream',
    open: (bytes, context) => {
      const plan = directPlan(schema, 'ServerStreamRequest', bytes, context);
      return { headers: plan.headers, trailers: plan.trailers, batches: batchesOf(schema, plan, context) };
    },
  };
}

async function* batchesOf(schema: SuiteSchema, plan: Plan, { request }: DirectContext): AsyncGenerator<MessageBatch, void> {
  for (let at = 0; at < plan.data.length; at += 1) {
    await paused(plan, request.signal);
    const bytes = schema.write('ServerStreamResponse', payloadOf(plan, at));
    yield { length: 1, encoded: () => bytes };
  }
  if (plan.error !== undefined) throw statusError(schema, plan, plan.data.length > 0);
}

function statusError(schema: SuiteSchema, plan: Plan, wasSeen: boolean): StatusError {
  const { code = 2, message = '' } = plan.error ?? {};
  const json = { code, message, details: [...detailsOf(schema, plan, wasSeen)] };
  const details = toBinary(StatusSchema, fromJson(StatusSchema, json, { registry: schema.registry }));
  // An error before the first message is one block of headers.
  return new StatusError({ code, message, details, metadata: wasSeen ? plan.trailers : { ...plan.headers, ...plan.trailers } });
}

function connectPlan(schema: SuiteSchema, message: Message, context: HandlerContext): Plan {
  const call = context.values.get(CALL);
  if (call === undefined) throw new Error('the call has no request');
  call.isRead = true;
  const plan = planOf(schema, message.$typeName.split('.').at(-1) ?? '', schema.json(message), {
    header: (name) => call.request.header(name),
    timeoutMs: context.timeoutMs(),
  });
  for (const [name, values] of Object.entries(plan.headers)) for (const value of values) context.responseHeader.append(name, value);
  for (const [name, values] of Object.entries(plan.trailers)) for (const value of values) context.responseTrailer.append(name, value);
  return plan;
}

async function connectUnary(schema: SuiteSchema, message: Message, context: HandlerContext): Promise<Message> {
  const plan = connectPlan(schema, message, context);
  await paused(plan, context.signal);
  if (plan.error !== undefined) throw connectError(schema, plan, false);
  return schema.create('UnaryResponse', payloadOf(plan, 0));
}

async function* connectStream(schema: SuiteSchema, message: Message, context: HandlerContext): AsyncGenerator<Message, void> {
  const plan = connectPlan(schema, message, context);
  for (let at = 0; at < plan.data.length; at += 1) {
    await paused(plan, context.signal);
    yield schema.create('ServerStreamResponse', payloadOf(plan, at));
  }
  if (plan.error !== undefined) throw connectError(schema, plan, plan.data.length > 0);
}

function connectError(schema: SuiteSchema, plan: Plan, wasSeen: boolean): ConnectError {
  const error = new ConnectError(plan.error?.message ?? '', plan.error?.code);
  error.details = detailsOf(schema, plan, wasSeen).map((json) => {
    const { typeUrl, value } = fromJson(AnySchema, json, { registry: schema.registry });
    return { type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1), value };
  });
  return error;
}

/** Waits as the plan says, or until the call has ended. Connect's own deadline fails the call itself. */
async function paused({ delayMs }: Plan, signal: AbortSignal): Promise<void> {
  if (delayMs === 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  if (signal.aborted) throw signal.reason;
}
