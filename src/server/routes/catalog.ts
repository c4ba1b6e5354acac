import type { HttpResponse } from '#bindings';
import type { AgentCard, JsonObject } from '#protocol';
import type { ServedAgent } from '../agents/served-agent.ts';

/** What the catalog lists. */
export interface CatalogOptions {
  readonly agents: readonly ServedAgent[];
  /** The node's URL without a trailing slash. */
  readonly base: string;
  /** The domain that publishes the agents. Never taken from a request. */
  readonly publisher: string;
  readonly changed: Date;
  readonly ageMsMax: number;
}

const CARD_TYPE = 'application/a2a-agent-card+json';

/**
 * `/.well-known/ai-catalog.json` and `/.well-known/ard.json`: one document that readers of all versions
 * of the specification understand.
 */
export function catalogAnswer(options: CatalogOptions): HttpResponse {
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/ai-catalog+json',
      'Cache-Control': `public, max-age=${Math.floor(options.ageMsMax / 1000)}`,
      'Last-Modified': options.changed.toUTCString(),
      // Web pages of any origin may read the catalog. It contains only what the public cards contain.
      'Access-Control-Allow-Origin': '*',
    },
    body: JSON.stringify(catalogOf(options)),
  };
}

/** The catalog as JSON: one entry for each agent. */
export function catalogOf({ agents, base, publisher, changed }: CatalogOptions): JsonObject {
  return {
    specVersion: '1.0',
    host: { displayName: agents[0]?.card.provider?.organization ?? publisher, identifier: publisher },
    entries: agents.map(({ name, card }) => ({
      identifier: `urn:air:${publisher}:a2a:${name}`,
      displayName: card.name,
      // The version of April 2026 has `mediaType`, later ones have `type`. Readers ignore the member that they do not know.
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

/**
 * Search terms of an agent. Agent Resource Discovery 0.9 allows two to five example questions, or none.
 */
function wordsOf({ skills }: AgentCard): JsonObject {
  const tags = [...new Set(skills.flatMap((skill) => skill.tags))];
  const questions = [...new Set(skills.flatMap((skill) => skill.examples ?? []))].slice(0, 5);
  return {
    ...(tags.length === 0 ? {} : { tags }),
    capabilities: skills.map(({ id }) => id),
    ...(questions.length < 2 ? {} : { representativeQueries: questions }),
  };
}
