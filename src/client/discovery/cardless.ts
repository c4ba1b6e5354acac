import type { ClientBinding, ProtocolBinding } from '#bindings';
import type { Dialect, Registry } from '#protocol';
import type { ClientOptions } from '../options.ts';
import type { Endpoint } from './endpoint.ts';
import type { ProbeTools } from './probe.ts';
import { probe } from './probe.ts';

/** How to call an address of which no card tells the dialect. */
export interface CardlessOptions extends ProbeTools {
  readonly registry: Registry;
  readonly options: ClientOptions;
  /** The dialect that the caller fixed. */
  readonly only: Dialect | undefined;
  /** The binding over which addresses are probed comes first. */
  readonly bindings: readonly ClientBinding<ProtocolBinding>[];
}

/** The endpoints that an address without a card can be, those that answer a probe first. Empty if none does. */
export async function cardlessEndpoints(url: string, cardless: CardlessOptions): Promise<readonly Endpoint[]> {
  const { options } = cardless;
  const every = everyEndpoint(url, cardless);
  const isDefault = defaultBinding(cardless);
  if (options.dialect !== undefined || (options.binding !== undefined && !isDefault(options))) return every;
  const rpc = every.filter(isDefault);
  const probed = await probe(rpc, cardless, options.signal ?? new AbortController().signal);
  return probed.length === 0 ? [] : [...probed, ...rpc.filter((endpoint) => !probed.includes(endpoint))];
}

/**
 * What to try if the agent rejects the dialect of its card: the other dialects at the same address. Several dialects have cards that look
 * alike. Dialects that answer a probe come first.
 */
export async function otherDialects(tried: readonly Endpoint[], cardless: CardlessOptions): Promise<readonly Endpoint[]> {
  const isDefault = defaultBinding(cardless);
  const url = tried.find(isDefault)?.url;
  if (url === undefined || cardless.options.dialect !== undefined) return [];
  const isNew = (endpoint: Endpoint): boolean =>
    isDefault(endpoint) && !tried.some(({ url, dialect }) => url === endpoint.url && dialect === endpoint.dialect);
  const others = everyEndpoint(url, cardless).filter(isNew);
  const known = await probe(others, cardless, new AbortController().signal);
  return [...known, ...others.filter((endpoint) => !known.includes(endpoint))];
}

/** Every endpoint that an address without a card can be. Variants of dialects, and dialects for brokers, always have a card. */
function everyEndpoint(url: string, { registry, options, only, bindings }: CardlessOptions): readonly Endpoint[] {
  const dialects = only === undefined ? registry.all.filter(({ id, card }) => !id.includes('.') && card.isPublished !== true) : [only];
  const common = { url, version: '', why: only === undefined ? 'there is no card: found by probing' : 'chosen by the dialect option' };
  const endpoints = bindings.flatMap(({ protocolBinding: binding, formOf }) => {
    const forms = dialects.map((dialect) => formOf(dialect, registry)).filter((dialect) => dialect !== undefined);
    return forms.map((dialect): Endpoint => ({ ...common, binding, dialect }));
  });
  return endpoints.filter(({ binding }) => options.binding === undefined || binding === options.binding);
}

function defaultBinding({ bindings }: CardlessOptions): (at: { readonly binding?: ProtocolBinding }) => boolean {
  const [first] = bindings;
  return ({ binding }) => binding === first?.protocolBinding;
}
