import type { HttpRequest, HttpResponse } from '#bindings';
import { BINDINGS, grpcInterfaces } from '#bindings';
import type { AgentCard, CardSigner, SchemeShape } from '#protocol';
import { A2AError, interfacesFor, negotiateCard, signCard, withScopeLists, writeCard } from '#protocol';
import type { CardSecurity } from '../access/authentication/card-security.ts';
import { errorAnswer } from './responses.ts';

/**
 * `superset` is read by clients of most versions. `strict` is pure 1.0, and `scope-lists` a superset for a2a-go 2 (docs/cards.md). A client
 * asks for one with `?card=`.
 */
export const CARD_FORMS = ['superset', 'strict', 'scope-lists'] as const;

/** One of `CARD_FORMS`. */
export type CardForm = (typeof CARD_FORMS)[number];

/** How cards are served. */
export interface CardsOptions {
  /** The form without `?card=`. */
  readonly form: CardForm;
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
      try {
        const query = new URLSearchParams(httpRequest.query);
        const version = httpRequest.header('a2a-version') ?? query.get('A2A-Version');
        const wanted = formIn(query) ?? form;
        const { schemes, headers } = negotiateCard({ path: httpRequest.path, version });
        const key = `${base}\n${schemes}\n${wanted}`;
        const kept = written.get(card) ?? new Map<string, Promise<Written>>();
        written.set(card, kept);
        const known = kept.get(key);
        const body = known ?? write(cardAt(card, base), { form: wanted, schemes, signer });
        if (known === undefined && kept.size < KEPT_MAX) kept.set(key, body);
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

function formIn(query: URLSearchParams): CardForm | undefined {
  const named = query.get('card');
  const found = CARD_FORMS.find((form) => form === named);
  if (named !== null && found === undefined) {
    throw new A2AError('INVALID_REQUEST', `unknown form of the card; known: ${CARD_FORMS.join(', ')}`, { field: 'card' });
  }
  return found;
}

interface WriteOptions {
  readonly form: CardForm;
  readonly schemes: SchemeShape;
  readonly signer: CardSigner | undefined;
}

async function write(card: AgentCard, { form, schemes, signer }: WriteOptions): Promise<Written> {
  const document = writeCard(card, { form: form === 'strict' ? 'strict' : 'superset', schemes });
  // The signature covers the served document, including the fields for older clients (A2A 1.0.1 §8.4). Scope lists are no form of 1.0.
  const signed = JSON.stringify(signer === undefined ? document : await signCard(document as unknown as AgentCard, signer));
  const body = form === 'scope-lists' ? JSON.stringify(withScopeLists(JSON.parse(signed))) : signed;
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
