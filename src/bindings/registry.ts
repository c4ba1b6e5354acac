import type { Binding } from './binding.ts';
import { JSON_RPC_SERVED } from './jsonrpc/serve.ts';
import type { ProtocolBinding } from './links.ts';
import { HTTP_JSON_SERVED } from './rest/serve.ts';

/**
 * Every binding with both halves, in the order in which cards list them. Clients read `CLIENT_BINDINGS`
 * (links.ts).
 */
export const BINDINGS: readonly Binding<ProtocolBinding>[] = [JSON_RPC_SERVED, HTTP_JSON_SERVED];
