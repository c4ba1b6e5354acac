import type { ClientBinding } from './binding.ts';
import { GRPC } from './grpc/binding.ts';
import { JSON_RPC } from './jsonrpc/binding.ts';
import { HTTP_JSON } from './rest/binding.ts';

/** The bindings that this package supports, as cards name them. */
export type ProtocolBinding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

const BY_NAME: { readonly [Name in ProtocolBinding]: ClientBinding<Name> } = {
  JSONRPC: JSON_RPC,
  'HTTP+JSON': HTTP_JSON,
  GRPC,
};

/** The client half of every binding, in the order in which clients try them. */
export const CLIENT_BINDINGS: readonly ClientBinding<ProtocolBinding>[] = Object.values(BY_NAME);

/** The binding that every dialect has: clients probe an address without a card over it. */
export const DEFAULT_BINDING: ClientBinding<ProtocolBinding> = JSON_RPC;

/**
 * A binding by a name that a card or a person uses for it, in any case. Undefined: the package does not
 * support it.
 */
export function findBinding(name: string): ClientBinding<ProtocolBinding> | undefined {
  const upper = name.toUpperCase();
  return CLIENT_BINDINGS.find(({ protocolBinding, otherNames }) => protocolBinding === upper || otherNames.includes(upper));
}

/** The names that cards use for the supported bindings, for messages to people. */
export function bindingWords(): string {
  return CLIENT_BINDINGS.map(({ protocolBinding }) => protocolBinding).join(' or ');
}

/** A binding by its name in cards. */
export function bindingOf(name: ProtocolBinding): ClientBinding<ProtocolBinding> {
  return BY_NAME[name];
}
