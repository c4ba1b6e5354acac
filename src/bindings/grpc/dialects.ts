import type { Dialect, Operation, Registry } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';

const everyDialect = createRegistry(DIALECTS);

/** One of this package's own dialects. */
export function dialectNamed(id: string): Dialect {
  const dialect = everyDialect.byId(id);
  if (dialect === undefined) throw new Error(`no dialect ${id}`);
  return dialect;
}

/** The method names of a service, by operation. */
export type GrpcMethods = Readonly<Partial<Record<Operation, string>>>;

/** 1.0's methods have the names of its JSON-RPC methods. */
export const METHODS_V10: GrpcMethods = dialectNamed('v10').methods;

export const METHODS_V03: GrpcMethods = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  cancel: 'CancelTask',
  subscribe: 'TaskSubscription',
  'push.create': 'CreateTaskPushNotificationConfig',
  'push.get': 'GetTaskPushNotificationConfig',
  'push.list': 'ListTaskPushNotificationConfig',
  'push.delete': 'DeleteTaskPushNotificationConfig',
  extendedCard: 'GetAgentCard',
};

/** The dialects whose JSON is the ProtoJSON of a service: what gRPC calls and serves. The package of the service tells the version. */
const METHODS: Readonly<Record<string, GrpcMethods>> = { v10: METHODS_V10, 'v03.rest': METHODS_V03 };

/** The gRPC form of a dialect: itself, or the variant that is ProtoJSON. Undefined: it has none. */
export function grpcForm(dialect: Dialect, registry: Registry): Dialect | undefined {
  const form = registry.restForm(dialect);
  return form !== undefined && form.id in METHODS ? form : undefined;
}

/** Whether a dialect that `grpcForm` returned has an operation. */
export function hasMethod(dialect: Dialect, operation: Operation): boolean {
  return METHODS[dialect.id]?.[operation] !== undefined;
}
