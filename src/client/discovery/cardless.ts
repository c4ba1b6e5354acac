import type { ProtocolBinding } from '#bindings';
import { CLIENT_BINDINGS, DEFAULT_BINDING } from '#bindings';
import type { Registry } from '#protocol';
import { openEndpoint } from '../connection/fallback.ts';
import type { Http } from '../connection/http.ts';
import type { ClientOptions } from '../options.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointOptions } from './endpoints.ts';
import { fixed, isAsked } from './endpoints.ts';
import { probe } from './probe.ts';

/** How to call an address of which no card tells the dialect. */
export interface CardlessOptions {
  readonly http: Http;
  readonly registry: Registry;
  readonly options: ClientOptions;
}

/** The endpoints that an address without a card can be, those that answer a probe first. Empty if none does. */
export async function cardlessEndpoints(url: string, cardless: CardlessOptions): Promise<readonly Endpoint[]> {
  const { http, registry, options } = cardless;
  const every = everyEndpoint(url, { ...options, registry, base: undefined });
  if (options.dialect !== undefined || (options.binding !== undefined && !isDefault(options.binding))) return every;
  const rpc = every.filter(({ binding }) => isDefault(binding));
  const signal = options.signal ?? new AbortController().signal;
  const probed = await probe(rpc, (endpoint) => openEndpoint(endpoint, http, options), signal);
  return probed.length === 0 ? [] : [...probed, ...rpc.filter((endpoint) => !probed.includes(endpoint))];
}

/**
 * What to try if the agent rejects the dialect of its card: the other dialects at the same address. Several dialects have cards that look
 * alike. Dialects that answer a probe come first.
 */
export async function otherDialects(tried: readonly Endpoint[], cardless: CardlessOptions): Promise<readonly Endpoint[]> {
  const { http, registry, options } = cardless;
  const url = tried.find(({ binding }) => isDefault(binding))?.url;
  if (url === undefined || options.dialect !== undefined) return [];
  const isNew = (endpoint: Endpoint): boolean =>
    isDefault(endpoint.binding) && !tried.some(({ url, dialect }) => url === endpoint.url && dialect === endpoint.dialect);
  const others = everyEndpoint(url, { ...options, registry, base: undefined }).filter(isNew);
  const known = await probe(others, (endpoint) => openEndpoint(endpoint, http, options), new AbortController().signal);
  return [...known, ...others.filter((endpoint) => !known.includes(endpoint))];
}

/** Every endpoint that an address without a card can be. Variants of dialects, and dialects for brokers, always have a card. */
function everyEndpoint(url: string, options: EndpointOptions): readonly Endpoint[] {
  const only = fixed(options);
  const dialects =
    only === undefined ? options.registry.all.filter(({ id, card }) => !id.includes('.') && card.isPublished !== true) : [only];
  const common = { url, version: '', why: only === undefined ? 'there is no card: found by probing' : 'chosen by the dialect option' };
  const endpoints = CLIENT_BINDINGS.flatMap(({ protocolBinding: binding, formOf }) => {
    const forms = dialects.map((dialect) => formOf(dialect, options.registry)).filter((dialect) => dialect !== undefined);
    return forms.map((dialect): Endpoint => ({ ...common, binding, dialect }));
  });
  return endpoints.filter((endpoint) => isAsked(endpoint, options));
}

function isDefault(binding: ProtocolBinding): boolean {
  return binding === DEFAULT_BINDING.protocolBinding;
}
