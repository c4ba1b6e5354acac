import type { HttpResponse } from '#bindings';
import type { AgentCard, JsonObject } from '#protocol';
import type { ServedAgent } from '../agents/served-agent.ts';

export interface CatalogOptions {
  readonly agents: readonly ServedAgent[];
  /** Where the node is reached, without a slash at its end. */
  readonly base: string;
  /** The domain in whose name the agents are published, never taken from a request. */
  readonly publisher: string;
  readonly changed: Date;
  readonly ageMsMax: number;
}

const CARD_TYPE = 'application/a2a-agent-card+json';

/** `/.well-known/ai-catalog.json` and `/.well-known/ard.json`, the same bytes: one document for readers of all versions (reference/catalog §2). */
export function catalogAnswer(options: CatalogOptions): HttpResponse {
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/ai-catalog+json',
      'Cache-Control': `public, max-age=${Math.floor(options.ageMsMax / 1000)}`,
      'Last-Modified': options.changed.toUTCString(),
      // Scanners in a browser read it from anywhere; it holds what every card says anyway.
      'Access-Control-Allow-Origin': '*',
      'X-Content-Type-Options': 'nosniff',
    },
    body: JSON.stringify(catalogOf(options)),
  };
}

export function catalogOf({ agents, base, publisher, changed }: CatalogOptions): JsonObject {
  return {
    specVersion: '1.0',
    host: { displayName: agents[0]?.card.provider?.organization ?? publisher, identifier: publisher },
    entries: agents.map(({ name, card }) => ({
      identifier: `urn:air:${publisher}:a2a:${name}`,
      displayName: card.name,
      // Readers of April 2026 know `mediaType`, later ones `type`; each ignores the other.
      type: CARD_TYPE,
      mediaType: CARD_TYPE,
      url: `${base}/agents/${name}/.well-known/agent-card.json`,
      description: card.description,
      ...wordsOf(card),
      version: card.version,
      updatedAt: changed.toISOString(),
    })),
  };
}

/** What an agent is found by. ARD 0.9 wants two to five questions, or none at all. */
function wordsOf({ skills }: AgentCard): JsonObject {
  const tags = [...new Set(skills.flatMap((skill) => skill.tags))];
  const questions = [...new Set(skills.flatMap((skill) => skill.examples ?? []))].slice(0, 5);
  return {
    ...(tags.length === 0 ? {} : { tags }),
    capabilities: skills.map(({ id }) => id),
    ...(questions.length < 2 ? {} : { representativeQueries: questions }),
  };
}
