import type { Binding } from '../binding.ts';
import { jsonRpcLink } from './link.ts';
import { answerJsonRpc, refuseJsonRpc } from './serve.ts';

/** JSON-RPC 2.0 over HTTP, with server-sent events for streams. Every dialect has it. */
export const JSON_RPC: Binding<'JSONRPC'> = {
  id: 'jsonrpc',
  protocolBinding: 'JSONRPC',
  otherNames: ['JSON-RPC'],
  title: 'JSON-RPC',
  route: { methods: ['POST'], paths: ['/', '/a2a', '/a2a/jsonrpc', '/api/a2a'] },
  // The address of 0.x is the root: it becomes the card's `url`, which Society's clients call, and Society is detected only there.
  paths: { '1.0': '/a2a', '0.3': '/' },
  serve: answerJsonRpc,
  refuse: refuseJsonRpc,
  link: jsonRpcLink,
  formOf: (dialect) => dialect,
  has: (dialect, operation) => dialect.methods[operation] !== undefined,
};
