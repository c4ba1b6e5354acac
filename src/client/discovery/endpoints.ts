import { BINDINGS, bindingOf, findBinding } from '#bindings';
import type { AgentInterface, Dialect, Operation, Registry, TenantId } from '#protocol';
import type { Binding } from '../connection/memory.ts';
import { ClientError } from '../errors/client-error.ts';
import type { ClientOptions } from '../options.ts';
import type { CardDocument } from './card-document.ts';
import { sameAddress } from './target.ts';

/** One way to call an agent. */
export interface Way {
  readonly url: string;
  readonly binding: Binding;
  readonly dialect: Dialect;
  readonly tenant?: TenantId;
  readonly why: string;
}

export interface WayOptions extends Pick<ClientOptions, 'binding' | 'dialect'> {
  readonly registry: Registry;
  /** What the card's address stands on. */
  readonly base: string | undefined;
  /** The address that was given, if it was one that takes calls: a way that goes there comes first. */
  readonly named?: string;
}

/** The ways that a card offers and we know, in its order. */
export function waysOf(document: CardDocument, options: WayOptions): readonly Way[] {
  const { found } = document;
  const offered = found.card.value.supportedInterfaces;
  const ways = offered.map((iface) => wayTo(iface, document, options)).filter((way) => way !== undefined);
  if (offered.length === 0 && options.base !== undefined) ways.push(besideCard(document, options, options.base));
  const wanted = ways.filter(({ binding }) => options.binding === undefined || binding === options.binding);
  if (wanted.length === 0) throw noWay(offered, options);
  const named = wanted.filter(({ url }) => options.named !== undefined && sameAddress(url, options.named));
  return [...named, ...wanted.filter((way) => !named.includes(way))];
}

function wayTo(iface: AgentInterface, { found, url }: CardDocument, options: WayOptions): Way | undefined {
  const { registry } = options;
  const binding = findBinding(iface.protocolBinding);
  if (binding === undefined || !URL.canParse(iface.url, url)) return undefined;
  // Only a card of the canonical shape can list interfaces of other versions than its own.
  const isCanonical = registry.speaks({ protocolVersion: '1.0' }) === found.dialect;
  const spoken = fixed(options) ?? (isCanonical ? registry.speaks(iface) : found.calls);
  const dialect = spoken === undefined ? undefined : binding.formOf(spoken, registry);
  if (dialect === undefined) return undefined;
  const way = { url: new URL(iface.url, url).href, binding: binding.protocolBinding, dialect };
  const why = `the card offers ${iface.protocolBinding} ${iface.protocolVersion}`;
  return iface.tenant === undefined ? { ...way, why } : { ...way, why, tenant: iface.tenant };
}

/** A card that names no address is PromptKit's: its clients post to `/a2a` beside it (reference/dialects §3b). */
function besideCard({ found }: CardDocument, options: WayOptions, base: string): Way {
  return {
    url: `${base}/a2a`,
    binding: 'JSONRPC',
    dialect: fixed(options) ?? found.calls,
    why: 'the card names no address, so /a2a beside it',
  };
}

/** Every way that an address can be called, when there is no card to say. Variants, and what goes over a broker, have cards. */
export function everyWay(url: string, options: WayOptions): readonly Way[] {
  const only = fixed(options);
  const dialects =
    only === undefined ? options.registry.all.filter(({ id, card }) => !id.includes('.') && card.isPublished !== true) : [only];
  const why = only === undefined ? 'no card tells: found out by asking' : 'as you said';
  const ways = BINDINGS.flatMap(({ protocolBinding: binding, formOf }) => {
    const forms = dialects.map((dialect) => formOf(dialect, options.registry)).filter((dialect) => dialect !== undefined);
    return forms.map((dialect): Way => ({ url, binding, dialect, why }));
  });
  return ways.filter(({ binding }) => options.binding === undefined || binding === options.binding);
}

/** It can be asked for in this dialect, by this binding. */
export function hasOperation({ binding, dialect }: Way, operation: Operation): boolean {
  return bindingOf(binding).has(dialect, operation);
}

/** The dialect that the caller fixed. */
export function fixed({ dialect, registry }: Pick<WayOptions, 'dialect' | 'registry'>): Dialect | undefined {
  if (dialect === undefined) return undefined;
  const found = registry.byId(dialect);
  if (found !== undefined) return found;
  throw new ClientError('bad-target', `there is no dialect ${dialect}`, { hint: `one of ${registry.all.map(({ id }) => id).join(', ')}` });
}

function noWay(offered: readonly AgentInterface[], { binding }: WayOptions): ClientError {
  const list = offered.map((iface) => `${iface.protocolBinding} ${iface.protocolVersion}`).join(', ');
  return new ClientError('no-interface', 'the card offers no way that we can take', {
    why: offered.length === 0 ? 'it lists no interface' : `it lists ${list}`,
    hint:
      binding === undefined
        ? `we speak ${BINDINGS.map(({ title }) => title).join(' and ')}, in every published version`
        : `leave out binding: '${binding}' to take another`,
  });
}
