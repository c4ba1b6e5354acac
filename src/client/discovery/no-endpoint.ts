import type { ClientBinding, ProtocolBinding } from '#bindings';
import type { AgentInterface } from '#protocol';
import type { ClientError, ErrorMaker } from '../errors/client-error.ts';

interface Wanted {
  /** What the caller asked for. */
  readonly binding?: ProtocolBinding;
  /** What this client supports. */
  readonly bindings: readonly ClientBinding<ProtocolBinding>[];
}

/** The error for a card without a usable interface: what it offers, and what the client supports. */
export function noEndpoint(offered: readonly AgentInterface[], { binding, bindings }: Wanted, make: ErrorMaker): ClientError {
  const list = offered.map((iface) => `${iface.protocolBinding} ${iface.protocolVersion}`).join(', ');
  return make('no-interface', `the card offers no ${binding === undefined ? '' : `${binding} `}interface that this client supports`, {
    why: offered.length === 0 ? 'it lists none' : `it lists ${list}`,
    hint:
      binding === undefined
        ? `${bindings.map(({ protocolBinding }) => protocolBinding).join(' and ')} are supported, in every published version`
        : `leave out binding: '${binding}' to use another`,
  });
}

/** The error for a card that leads to the caller's own machine. */
export function sentInside(url: string, base: string | undefined, make: ErrorMaker): ClientError {
  return make('forbidden-target', `the card sends its callers to ${new URL(url).host}, which is this machine`, {
    url,
    why: `it came from ${base === undefined ? 'elsewhere' : new URL(base).host}`,
    hint: 'tell the operator of the agent; if the agent does run on this machine, connect to its address here',
  });
}
