import type { DescFile } from '@bufbuild/protobuf';
import { create, createRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { A2AError, unreachable } from '#protocol';
import type { ServerReflectionRequest, ServerReflectionResponse } from './generated/grpc_reflection_v1_pb.ts';
import {
  ErrorResponseSchema,
  ExtensionNumberResponseSchema,
  FileDescriptorResponseSchema,
  ListServiceResponseSchema,
  ServerReflection,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  ServiceResponseSchema,
} from './generated/grpc_reflection_v1_pb.ts';
import { ServerReflection as ServerReflectionAlpha } from './generated/grpc_reflection_v1alpha_pb.ts';
import type { OperatorMethod } from './operator-methods.ts';
import { badMessage, NOT_FOUND } from './operator-methods.ts';

type Answer = ServerReflectionResponse['messageResponse'];

/**
 * Server reflection, for tools such as grpcurl: describes the services of these files. `v1alpha` is for
 * older tools; its messages have the same bytes. `more`: files of types that are not part of a service,
 * such as the details of errors.
 */
export function reflectionMethods(files: readonly DescFile[], more: readonly DescFile[]): ReadonlyMap<string, OperatorMethod> {
  const all = [...files, ...more].flatMap(withDependencies);
  const registry = createRegistry(...all);
  const byName = new Map(all.map((file) => [file.proto.name, file]));
  const services = files.flatMap((file) => file.services.map(({ typeName }) => create(ServiceResponseSchema, { name: typeName })));
  const answerTo = ({ messageRequest }: ServerReflectionRequest): Answer => {
    switch (messageRequest.case) {
      case 'listServices':
        return { case: 'listServicesResponse', value: create(ListServiceResponseSchema, { service: services }) };
      case 'fileByFilename':
        return described(byName.get(messageRequest.value), messageRequest.value);
      case 'fileContainingSymbol': {
        const { value: symbol } = messageRequest;
        // The name of a method or of a field is that of its service or message, and one more word.
        const parent = symbol.slice(0, Math.max(0, symbol.lastIndexOf('.')));
        return described((registry.get(symbol) ?? registry.get(parent))?.file, symbol);
      }
      case 'allExtensionNumbersOfType': {
        // None of our messages has extensions.
        const { value: baseTypeName } = messageRequest;
        if (registry.getMessage(baseTypeName) === undefined) return described(undefined, baseTypeName);
        return { case: 'allExtensionNumbersResponse', value: create(ExtensionNumberResponseSchema, { baseTypeName }) };
      }
      case 'fileContainingExtension':
        return described(undefined, `an extension of ${messageRequest.value.containingType}`);
      case undefined:
        throw new A2AError('INVALID_REQUEST', 'the request asks for nothing');
      default:
        return unreachable(messageRequest);
    }
  };
  const method: OperatorMethod = async function* (requests) {
    for await (const bytes of requests) {
      const request = read(bytes);
      const answer = { validHost: request.host, originalRequest: request, messageResponse: answerTo(request) };
      yield toBinary(ServerReflectionResponseSchema, create(ServerReflectionResponseSchema, answer));
    }
  };
  const names = [ServerReflection.typeName, ServerReflectionAlpha.typeName];
  return new Map(names.map((name) => [`${name}/ServerReflectionInfo`, method]));
}

function read(bytes: Uint8Array): ServerReflectionRequest {
  try {
    return fromBinary(ServerReflectionRequestSchema, bytes);
  } catch (cause) {
    throw badMessage(cause);
  }
}

/** A file after those that it imports. */
function withDependencies(file: DescFile): readonly DescFile[] {
  return [...file.dependencies.flatMap(withDependencies), file];
}

function described(file: DescFile | undefined, name: string): Answer {
  if (file === undefined) {
    return {
      case: 'errorResponse',
      value: create(ErrorResponseSchema, { errorCode: NOT_FOUND, errorMessage: `not found: ${name.slice(0, 100)}` }),
    };
  }
  const fileDescriptorProto = [...new Set(withDependencies(file))].reverse().map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse', value: create(FileDescriptorResponseSchema, { fileDescriptorProto }) };
}
