import type { HttpRequest, ServeOptions } from '#bindings';
import type { AgentCard } from '#protocol';
import { countedIds, withoutEndSlashes } from '#protocol';
import type { ServedAgent } from '../agents/served-agent.ts';
import type { ServerLimits } from '../limits.ts';
import type { Log } from '../observability/log.ts';
import type { HandlerOptions } from '../options.ts';
import type { RequestPath } from './routes.ts';

export interface ServingParts {
  readonly options: HandlerOptions;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly cardAt: (card: AgentCard, place: RequestPath) => AgentCard;
}

/** What the bindings are told, made once for each agent and place. */
export function servingFor({ options, limits, log, cardAt }: ServingParts): (agent: ServedAgent, place: RequestPath) => ServeOptions {
  const made = new Map<string, { readonly agent: ServedAgent; readonly serving: ServeOptions }>();
  const env = { ids: countedIds(), limits };
  return (agent, place) => {
    const known = made.get(place.base);
    if (known?.agent === agent) return known.serving;
    const serving: ServeOptions = {
      basePath: place.base,
      env,
      card: () => cardAt(agent.card, place),
      extensions: (agent.card.capabilities.extensions ?? []).map(({ uri }) => uri),
      versionRequired: options.versionRequired ?? false,
      bodyBytesMax: limits.bodyBytesMax,
      jsonMembersMax: limits.jsonMembersMax,
      keepAliveMs: limits.keepAliveMs,
      retryMs: limits.reconnectMs,
      onError: (cause) => log.error('a call failed inside', cause, { agent: agent.name }),
    };
    made.set(place.base, { agent, serving });
    return serving;
  };
}

/** Where the node is reached: as configured; otherwise as each caller reached it. What is asked for by RPC goes by the first of them. */
export interface PublicUrl {
  of(request: HttpRequest): string;
  note(request: HttpRequest): void;
  base(): string;
}

export function publicUrl(url: string | undefined): PublicUrl {
  const configured = url === undefined ? undefined : withoutEndSlashes(url);
  let first = configured;
  return {
    of: (request) => configured ?? request.origin,
    note: (request) => {
      first ??= request.origin;
    },
    base: () => first ?? 'http://localhost',
  };
}
