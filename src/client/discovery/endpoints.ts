import { bindingOf, CLIENT_BINDINGS, DEFAULT_BINDING, findBinding } from '#bindings';
import type { AgentInterface, Dialect, Operation, Registry } from '#protocol';
import { CURRENT_DIALECT } from '#protocol';
import { ClientError, newError } from '../errors/client-error.ts';
import type { ClientOptions } from '../options.ts';
import type { CardDocument } from './card-document.ts';
import type { ClientDialects } from './dialects.ts';
import { loadOnDemand } from './dialects.ts';
import type { Endpoint } from './endpoint.ts';
import { interfaceAddress } from './interface-address.ts';
import { leadsInside } from './own-machine.ts';
import { sameAddress } from './target.ts';

/** What the choice of endpoints depends on. */
export interface EndpointOptions extends Pick<ClientOptions, 'binding' | 'dialect'> {
  readonly registry: Registry;
  /** The address below which the card was found. */
  readonly base: string | undefined;
  /** The address that the caller gave, if it takes calls. Endpoints at this address come first. */
  readonly named?: string;
}

/** The endpoints of a card in the order in which they are tried. */
export interface OrderedEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** The endpoints of the same card in dialects that are not loaded yet. They are tried when those above fail. */
  readonly rest: () => Promise<readonly Endpoint[]>;
}

/** The endpoints of a card. Further dialects are loaded only if the endpoint that comes first needs one. */
export async function cardEndpoints(
  document: CardDocument,
  { dialects, ...options }: Omit<EndpointOptions, 'registry'> & { readonly dialects: ClientDialects },
): Promise<OrderedEndpoints> {
  const few = { ...options, registry: dialects.loaded };
  const every = async () => endpointsOf(document, { ...options, registry: await dialects.all() });
  if (!startsWith(document, few)) return { endpoints: await every(), rest: async () => [] };
  const endpoints = await endpointsOf(document, few);
  const isNew = (other: Endpoint): boolean => !endpoints.some((known) => isSame(known, other));
  return { endpoints, rest: async () => (await every()).filter(isNew) };
}

/** Whether these dialects include that of the endpoint that comes first. */
function startsWith(document: CardDocument, options: EndpointOptions): boolean {
  if (options.dialect !== undefined && options.registry.byId(options.dialect) === undefined) return false;
  const offered = document.found.card.value.supportedInterfaces;
  const first = offered.find((iface) => isNamed(interfaceAddress(iface, document.url), options)) ?? offered[0];
  const endpoint = first === undefined ? undefined : endpointFor(first, document, options);
  return endpoint !== undefined && isAsked(endpoint, options) && !leadsInside(endpoint.url, options.base);
}

function isSame(one: Endpoint, other: Endpoint): boolean {
  return one.url === other.url && one.binding === other.binding && one.dialect === other.dialect;
}

/** Whether the caller lets the client use the binding of this endpoint. */
function isAsked({ binding }: Endpoint, options: EndpointOptions): boolean {
  return options.binding === undefined || binding === options.binding;
}

function isNamed(url: string | undefined, { named }: EndpointOptions): boolean {
  return url !== undefined && named !== undefined && sameAddress(url, named);
}

/** The endpoints of a card that this client can call, in the card's order. */
async function endpointsOf(document: CardDocument, options: EndpointOptions): Promise<readonly Endpoint[]> {
  const { found } = document;
  const offered = found.card.value.supportedInterfaces;
  const endpoints = offered.map((iface) => endpointFor(iface, document, options)).filter((endpoint) => endpoint !== undefined);
  if (offered.length === 0 && options.base !== undefined) endpoints.push(besideCard(document, options, options.base));
  const asked = endpoints.filter((endpoint) => isAsked(endpoint, options));
  const wanted = asked.filter(({ url }) => !leadsInside(url, options.base));
  if (wanted.length === 0) {
    const { noEndpoint, sentInside } = await loadOnDemand();
    throw asked[0] === undefined
      ? noEndpoint(offered, { ...options, bindings: CLIENT_BINDINGS }, newError)
      : sentInside(asked[0].url, options.base, newError);
  }
  const named = wanted.filter(({ url }) => isNamed(url, options));
  return [...named, ...wanted.filter((endpoint) => !named.includes(endpoint))];
}

/** The endpoint of an interface. Undefined if this client does not support its binding or version. */
function endpointFor(iface: AgentInterface, { found, url }: CardDocument, options: EndpointOptions): Endpoint | undefined {
  const { registry } = options;
  const binding = findBinding(iface.protocolBinding);
  const address = interfaceAddress(iface, url);
  if (binding === undefined || address === undefined) return undefined;
  // Only a card in the 1.0 shape can list interfaces of other versions than its own.
  const isCanonical = found.dialect.id === CURRENT_DIALECT;
  const spoken = fixed(options) ?? (isCanonical ? registry.speaks(iface) : found.calls);
  const dialect = spoken === undefined ? undefined : binding.formOf(spoken, registry);
  if (dialect === undefined) return undefined;
  const version = iface.protocolVersion;
  const endpoint = {
    url: fixed(options) === undefined ? address : addressFor(dialect, address),
    binding: binding.protocolBinding,
    dialect,
    version,
  };
  const why = `the card offers ${iface.protocolBinding} ${version}`;
  return iface.tenant === undefined ? { ...endpoint, why } : { ...endpoint, why, tenant: iface.tenant };
}

const OFFICIAL_PATH = /\/a2a\/jsonrpc$/;

/** The address of a product on a node whose card names the official one. */
function addressFor({ wire }: Dialect, address: string): string {
  return wire.callPath === undefined ? address : address.replace(OFFICIAL_PATH, wire.callPath);
}

/** PromptKit cards name no address. Their clients post to `/a2a` beside the card (docs/dialects/promptkit.md). */
function besideCard({ found }: CardDocument, options: EndpointOptions, base: string): Endpoint {
  return {
    url: `${base}/a2a`,
    binding: DEFAULT_BINDING.protocolBinding,
    dialect: fixed(options) ?? found.calls,
    version: '',
    why: 'the card names no address, so /a2a beside it',
  };
}

/** Whether this dialect has the operation over this binding. */
export function hasOperation({ binding, dialect }: Endpoint, operation: Operation): boolean {
  return bindingOf(binding).has(dialect, operation);
}

/** The dialect that the caller fixed. */
export function fixed({ dialect, registry }: Pick<EndpointOptions, 'dialect' | 'registry'>): Dialect | undefined {
  if (dialect === undefined) return undefined;
  const found = registry.byId(dialect);
  if (found !== undefined) return found;
  throw new ClientError('bad-target', `there is no dialect ${dialect}`, { hint: `one of ${registry.all.map(({ id }) => id).join(', ')}` });
}
