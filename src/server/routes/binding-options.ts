import type { AgUiOptions, BindingServeOptions, HttpRequest } from '#bindings';
import type { AgentCard } from '#protocol';
import { countedIds, withoutEndSlashes } from '#protocol';
import type { ServedAgent } from '../agents/served-agent.ts';
import type { ServerLimits } from '../limits.ts';
import type { Log } from '../observability/log.ts';
import type { HandlerOptions } from '../options.ts';
import type { RequestPath } from './routes.ts';

/** What the options of bindings are made of. */
export interface ServingParts {
  readonly options: HandlerOptions;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly cardAt: (card: AgentCard, place: RequestPath) => AgentCard;
}

/** The options of the bindings, created once for each agent and base path. */
export function servingFor({
  options,
  limits,
  log,
  cardAt,
}: ServingParts): (agent: ServedAgent, place: RequestPath) => BindingServeOptions {
  const made = new Map<string, { readonly agent: ServedAgent; readonly serving: BindingServeOptions }>();
  const env = { ids: countedIds(), limits };
  return (agent, place) => {
    const known = made.get(place.base);
    if (known?.agent === agent) return known.serving;
    const { extensions = [] } = agent.card.capabilities;
    const serving: BindingServeOptions = {
      basePath: place.base,
      env,
      card: () => cardAt(agent.card, place),
      extensions: extensions.map(({ uri }) => uri),
      requiredExtensions: extensions.filter(({ required }) => required === true).map(({ uri }) => uri),
      versionRequired: options.versionRequired ?? false,
      bodyBytesMax: limits.bodyBytesMax,
      jsonMembersMax: limits.jsonMembersMax,
      keepAliveMs: limits.keepAliveMs,
      retryMs: limits.reconnectMs,
      onError: (cause) => log.error('a call failed with an internal error', cause, { agent: agent.name }),
    };
    made.set(place.base, { agent, serving });
    return serving;
  };
}

/**
 * The URL at which clients reach the node: the configured one, or the one that the request was sent to.
 */
export interface PublicUrl {
  of(request: HttpRequest): string;
  /** Remembers the URL of the first request, for `base`. */
  note(request: HttpRequest): void;
  /** The configured URL, or that of the first request. For cards that are not requested by URL. */
  base(): string;
}

/** Without a configured URL, the one of each request is used; its host has passed the host check. */
export function publicUrl(url: string | undefined): PublicUrl {
  const configured = url === undefined ? undefined : withoutEndSlashes(url);
  let first = configured;
  return {
    of: (request) => configured ?? placeOf(request),
    note: (request) => {
      first ??= placeOf(request);
    },
    base: () => first ?? 'http://localhost',
  };
}

/** The options of the AG-UI endpoint. Its larger bodies have more members in proportion. */
export function agUiOptions(
  { agUi = {} }: HandlerOptions,
  { agUiBodyBytesMax, bodyBytesMax, jsonMembersMax }: ServerLimits,
): Pick<AgUiOptions, 'bodyBytesMax' | 'jsonMembersMax' | 'onHangUp'> {
  const times = Math.max(1, agUiBodyBytesMax / bodyBytesMax);
  return { ...agUi, bodyBytesMax: agUiBodyBytesMax, jsonMembersMax: Math.ceil(jsonMembersMax * times) };
}

/** With the prefix of a framework that has mounted the handler, if the framework says it. */
function placeOf({ origin, mountedAt = '' }: HttpRequest): string {
  return `${origin}${mountedAt}`;
}
