import { file_google_rpc } from './generated/google_rpc_pb.ts';
import { Health } from './generated/grpc_health_v1_pb.ts';
import { ServerReflection } from './generated/grpc_reflection_v1_pb.ts';
import { ServerReflection as ServerReflectionAlpha } from './generated/grpc_reflection_v1alpha_pb.ts';
import { healthMethods } from './health.ts';
import type { OperatorMethod } from './operator-methods.ts';
import { reflectionMethods } from './reflection.ts';
import { CODECS } from './serve-call.ts';

const served = CODECS.map(({ service }) => service);

/** Health checks and reflection, by service and method: `grpc.health.v1.Health/Check`. Everyone may call them. */
export const OPERATOR_METHODS: ReadonlyMap<string, OperatorMethod> = new Map([
  ...healthMethods(served.map(({ typeName }) => typeName)),
  ...reflectionMethods(
    [...served, Health, ServerReflection, ServerReflectionAlpha].map(({ file }) => file),
    [file_google_rpc],
  ),
]);
