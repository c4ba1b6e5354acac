import type { HttpRequest, HttpResponse } from '#bindings';
import { BINDINGS } from '#bindings';
import type { AgentCard, CardSigner } from '#protocol';
import { interfacesFor, negotiateCard, signCard, writeCard } from '#protocol';
import type { CardSecurity } from '../access/authentication/card-security.ts';
import { errorAnswer } from './responses.ts';

export interface CardsOptions {
  /** `strict` serves pure 1.0; `superset` is read by clients of every version. */
  readonly form: 'superset' | 'strict';
  readonly ageMsMax: number;
  /** When this card was last changed. */
  readonly changed: Date;
  /** What the gate asks for, which is what the cards say. */
  readonly security: CardSecurity;
  /** Signs what is served, as it is served. */
  readonly signer?: CardSigner | undefined;
}

export interface ServedCardRequest {
  readonly httpRequest: HttpRequest;
  readonly card: AgentCard;
  /** Where the agent is reached, without a slash at its end. */
  readonly base: string;
}

export interface Cards {
  answer(request: ServedCardRequest): Promise<HttpResponse>;
  /** The card as the agent itself says it, for dialects that ask by RPC. */
  cardAt(card: AgentCard, base: string): AgentCard;
}

interface Written {
  readonly body: string;
  readonly etag: string;
}

/** Callers choose the host names under which cards are written, so not all are kept. */
const KEPT_MAX = 256;

/** Cards as they are served: written once for each base and shape, with the tag of exactly these bytes (reference/protocol §3.11). */
export function createCards({ form, ageMsMax, changed, security, signer }: CardsOptions): Cards {
  const written = new WeakMap<AgentCard, Map<string, Promise<Written>>>();
  const completed = new WeakMap<AgentCard, Map<string, AgentCard>>();
  const lastModified = changed.toUTCString();

  const cardAt = (card: AgentCard, base: string): AgentCard => {
    const known = completed.get(card) ?? new Map<string, AgentCard>();
    completed.set(card, known);
    const complete = known.get(base) ?? { ...security.card(card), supportedInterfaces: interfacesFor(base, BINDINGS) };
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

async function write(card: ReturnType<typeof writeCard>, signer: CardSigner | undefined): Promise<Written> {
  // What is signed is the document that goes out, with all that older clients read in it (A2A 1.0.1 §8.4).
  const body = JSON.stringify(signer === undefined ? card : await signCard(card as unknown as AgentCard, signer));
  return { body, etag: `"${await digestOf(body)}"` };
}

/** SHA-256 of the bytes, short enough for a header. */
export async function digestOf(body: string): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body)));
  return Array.from(sum.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** 304 for whoever has it already (RFC 9110 §13.2.2: a tag is asked before a date). */
function fresh(httpRequest: HttpRequest, { body, etag }: Written, headers: Readonly<Record<string, string>>): HttpResponse {
  const kept = { ...headers, ETag: etag };
  const tags = httpRequest.header('if-none-match');
  const since = httpRequest.header('if-modified-since');
  const isKnown = tags === undefined ? isOlder(headers['Last-Modified'], since) : tagsInclude(tags, etag);
  if (isKnown) return { status: 304, headers: kept, body: null };
  return { status: 200, headers: { ...kept, 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' }, body };
}

function tagsInclude(header: string, etag: string): boolean {
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

function isOlder(changed: string | undefined, since: string | undefined): boolean {
  return changed !== undefined && since !== undefined && Date.parse(changed) <= Date.parse(since);
}
