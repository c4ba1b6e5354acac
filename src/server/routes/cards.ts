import type { HttpRequest, HttpResponse } from '#bindings';
import { BINDINGS, grpcInterfaces } from '#bindings';
import type { AgentCard, CardSigner } from '#protocol';
import { interfacesFor, negotiateCard, signCard, writeCard } from '#protocol';
import type { CardSecurity } from '../access/authentication/card-security.ts';
import { errorAnswer } from './responses.ts';

/** How cards are served. */
export interface CardsOptions {
  /** `strict` serves pure 1.0; `superset` is read by clients of every version. */
  readonly form: 'superset' | 'strict';
  readonly ageMsMax: number;
  /** The time of the last change, for `Last-Modified`. */
  readonly changed: Date;
  /** Makes the cards declare what the node enforces. */
  readonly security: CardSecurity;
  /** Whether cards name the interface of gRPC. */
  readonly grpc: boolean;
  /** Signs the served document. */
  readonly signer?: CardSigner | undefined;
  /** The card does not mention its extended form, because no caller gets it. */
  readonly hidesExtended?: (card: AgentCard) => boolean;
}

/** A request for a card. */
export interface ServedCardRequest {
  readonly httpRequest: HttpRequest;
  readonly card: AgentCard;
  /** The agent's URL without a trailing slash. */
  readonly base: string;
}

/** Serves the cards of all agents. */
export interface Cards {
  answer(request: ServedCardRequest): Promise<HttpResponse>;
  /** The complete card, for dialects that request it by RPC. */
  cardAt(card: AgentCard, base: string): AgentCard;
}

interface Written {
  readonly body: string;
  readonly etag: string;
}

/** Bounds the cache: callers choose the host names that the cards contain. */
const KEPT_MAX = 256;

/**
 * Serves the cards. Each is written once per base URL and shape; its ETag is the hash of these bytes
 * (docs/cards.md).
 */
export function createCards({ form, ageMsMax, changed, security, signer, grpc, hidesExtended = () => false }: CardsOptions): Cards {
  const written = new WeakMap<AgentCard, Map<string, Promise<Written>>>();
  const completed = new WeakMap<AgentCard, Map<string, AgentCard>>();
  const lastModified = changed.toUTCString();

  const cardAt = (card: AgentCard, base: string): AgentCard => {
    const known = completed.get(card) ?? new Map<string, AgentCard>();
    completed.set(card, known);
    const shown = hidesExtended(card) ? withoutExtended(card) : card;
    const complete = known.get(base) ?? {
      ...security.card(shown),
      supportedInterfaces: [...interfacesFor(base, BINDINGS), ...(grpc ? grpcInterfaces(base) : [])],
    };
    if (known.size < KEPT_MAX) known.set(base, complete);
    return complete;
  };
  return {
    cardAt,
    answer: async ({ httpRequest, card, base }) => {
      const version = httpRequest.header('a2a-version') ?? new URLSearchParams(httpRequest.query).get('A2A-Version');
      const { schemes, headers } = negotiateCard({ path: httpRequest.path, version });
      const key = `${base}\n${schemes}`;
      const kept = written.get(card) ?? new Map<string, Promise<Written>>();
      written.set(card, kept);
      const known = kept.get(key);
      const body = known ?? write(writeCard(cardAt(card, base), { form, schemes }), signer);
      if (known === undefined && kept.size < KEPT_MAX) kept.set(key, body);
      try {
        return fresh(httpRequest, await body, {
          ...headers,
          'Cache-Control': `public, max-age=${Math.floor(ageMsMax / 1000)}`,
          'Last-Modified': lastModified,
        });
      } catch (thrown) {
        return errorAnswer(thrown);
      }
    },
  };
}

function withoutExtended({ capabilities: { extendedAgentCard: _, ...capabilities }, ...card }: AgentCard): AgentCard {
  return { ...card, capabilities };
}

async function write(card: ReturnType<typeof writeCard>, signer: CardSigner | undefined): Promise<Written> {
  // The signature covers the served document, including the fields for older clients (A2A 1.0.1 §8.4).
  const body = JSON.stringify(signer === undefined ? card : await signCard(card as unknown as AgentCard, signer));
  return { body, etag: `"${await digestOf(body)}"` };
}

/** The first 16 bytes of the SHA-256 hash, in hexadecimal. */
async function digestOf(body: string): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body)));
  return Array.from(sum.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * 304 if the client has the current version (RFC 9110 §13.2.2: `If-None-Match` takes precedence over
 * `If-Modified-Since`).
 */
function fresh(httpRequest: HttpRequest, { body, etag }: Written, headers: Readonly<Record<string, string>>): HttpResponse {
  const kept = { ...headers, ETag: etag };
  const tags = httpRequest.header('if-none-match');
  const since = httpRequest.header('if-modified-since');
  const isKnown = tags === undefined ? isOlder(headers['Last-Modified'], since) : tagsInclude(tags, etag);
  if (isKnown) return { status: 304, headers: kept, body: null };
  return { status: 200, headers: { ...kept, 'Content-Type': 'application/json' }, body };
}

function tagsInclude(header: string, etag: string): boolean {
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

function isOlder(changed: string | undefined, since: string | undefined): boolean {
  return changed !== undefined && since !== undefined && Date.parse(changed) <= Date.parse(since);
}
