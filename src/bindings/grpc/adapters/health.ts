import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { GrpcHost } from '../host.ts';
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from './generated/grpc_health_v1_pb.ts';
import type { OperatorMethod, OperatorRequests } from './operator-methods.ts';
import { badMessage, NOT_FOUND, StatusError } from './operator-methods.ts';

const WATCH_MS = 1000;

/** `grpc.health.v1`: whether the node serves calls. The empty name is the node itself; all its services have one status. */
export function healthMethods(services: readonly string[]): ReadonlyMap<string, OperatorMethod> {
  const isKnown = (service: string): boolean => service === '' || services.includes(service);
  const check: OperatorMethod = async function* (requests, { host }) {
    const service = await serviceIn(requests);
    if (!isKnown(service)) throw new StatusError({ code: NOT_FOUND, message: 'unknown service' });
    yield written(statusOf(host));
  };
  const list: OperatorMethod = async function* (_, { host }) {
    const status = { status: statusOf(host) };
    yield toBinary(
      HealthListResponseSchema,
      create(HealthListResponseSchema, { statuses: Object.fromEntries(['', ...services].map((name) => [name, status])) }),
    );
  };
  const watch: OperatorMethod = async function* (requests, { host, request, signal }) {
    const service = await serviceIn(requests);
    const ended = host.beginWatch(request);
    let last: Serving | undefined;
    try {
      while (!signal.aborted) {
        const status = isKnown(service) ? statusOf(host) : Serving.SERVICE_UNKNOWN;
        if (status !== last) yield written(status);
        last = status;
        await pause(WATCH_MS, signal);
      }
    } finally {
      ended();
    }
  };
  return new Map(
    Object.entries({ Check: check, List: list, Watch: watch }).map(([name, method]) => [`${Health.typeName}/${name}`, method]),
  );
}

function statusOf(host: GrpcHost): Serving {
  return host.isServing() ? Serving.SERVING : Serving.NOT_SERVING;
}

function written(status: Serving): Uint8Array {
  return toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status }));
}

async function serviceIn(requests: OperatorRequests): Promise<string> {
  for await (const bytes of requests) {
    try {
      return fromBinary(HealthCheckRequestSchema, bytes).service;
    } catch (cause) {
      throw badMessage(cause);
    }
  }
  throw badMessage(undefined);
}

/** Resolves after the time, or when the signal fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
