import type { Dialect, Operation, Registry } from '#protocol';

/** The method names of a service, by operation. */
export type GrpcMethods = Readonly<Partial<Record<Operation, string>>>;

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

/**
 * The methods of a dialect whose JSON is the ProtoJSON of a service: what gRPC calls and serves. The package of the service tells the
 * version. 1.0's have the names of its JSON-RPC methods. Undefined: the dialect has no such service.
 */
function methodsOf({ id, methods }: Dialect): GrpcMethods | undefined {
  return id === 'v10' ? methods : id === 'v03.rest' ? METHODS_V03 : undefined;
}

/** The gRPC form of a dialect: itself, or the variant that is ProtoJSON. Undefined: it has none. */
export function grpcForm(dialect: Dialect, registry: Registry): Dialect | undefined {
  const form = registry.restForm(dialect);
  return form !== undefined && methodsOf(form) !== undefined ? form : undefined;
}

/** Whether a dialect that `grpcForm` returned has an operation. */
export function hasMethod(dialect: Dialect, operation: Operation): boolean {
  return methodsOf(dialect)?.[operation] !== undefined;
}
