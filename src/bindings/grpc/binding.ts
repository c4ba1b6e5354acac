import type { ClientBinding } from '../binding.ts';
import { grpcAddress } from './address.ts';
import { grpcForm, hasMethod } from './dialects.ts';
import { grpcLink } from './link.ts';

/** gRPC over HTTP/2, and gRPC-Web where a program has only `fetch`. */
export const GRPC: ClientBinding<'GRPC'> = {
  id: 'grpc',
  protocolBinding: 'GRPC',
  otherNames: [],
  title: 'gRPC',
  link: grpcLink,
  addressOf: grpcAddress,
  formOf: grpcForm,
  has: hasMethod,
};
