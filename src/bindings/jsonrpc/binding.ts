import type { ClientBinding } from '../binding.ts';
import { jsonRpcLink } from './link.ts';

/** JSON-RPC 2.0 over HTTP, with server-sent events for streams. Every dialect has it. */
export const JSON_RPC: ClientBinding<'JSONRPC'> = {
  id: 'jsonrpc',
  protocolBinding: 'JSONRPC',
  otherNames: ['JSON-RPC'],
  title: 'JSON-RPC',
  link: jsonRpcLink,
  formOf: (dialect) => dialect,
  has: (dialect, operation) => dialect.methods[operation] !== undefined,
};
