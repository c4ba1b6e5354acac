import type { Binding } from './binding.ts';
import { JSON_RPC } from './jsonrpc/binding.ts';
import { HTTP_JSON } from './rest/binding.ts';

/** The bindings that this package speaks, as cards name them. */
export type ProtocolBinding = 'JSONRPC' | 'HTTP+JSON';

const BY_NAME: { readonly [Name in ProtocolBinding]: Binding<Name> } = {
  JSONRPC: JSON_RPC,
  'HTTP+JSON': HTTP_JSON,
};

/** Every binding, in the order in which cards list them and clients try them. */
export const BINDINGS: readonly Binding<ProtocolBinding>[] = Object.values(BY_NAME);

/** A binding by a name that a card or a person uses for it, in any case. Undefined: it is not spoken here. */
export function findBinding(name: string): Binding<ProtocolBinding> | undefined {
  const upper = name.toUpperCase();
  return BINDINGS.find(({ protocolBinding, otherNames }) => protocolBinding === upper || otherNames.includes(upper));
}

export function bindingOf(name: ProtocolBinding): Binding<ProtocolBinding> {
  return BY_NAME[name];
}
