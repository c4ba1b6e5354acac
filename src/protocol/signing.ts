import type { AgentCard, AgentCardSignature } from './card.ts';
import { A2AError, isA2AError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';
import type { SigningCandidate, SigningForm } from './signing-forms.ts';
import { signingCandidates } from './signing-forms.ts';

// Agent card signatures (A2A 1.0.1 §8.4): a detached JWS (RFC 7515). The verifier computes the payload from the card.

/**
 * Accepted algorithms by default: asymmetric, and supported by every JOSE library. A policy may name
 * others, but `none` and shared secrets (HS…) are always rejected.
 */
export const CARD_ALGORITHMS: readonly string[] = ['ES256', 'RS256', 'EdDSA', 'Ed25519'];
const NEVER = /^(?:none|HS\d+)$/i;

/** Protected JWS header of a card signature. */
export interface ProtectedHeader {
  readonly alg: string;
  /** Id of the key. */
  readonly kid: string;
  readonly typ: 'JOSE';
  /** URL of the key set. Verifiers ignore it unless their policy allows it. */
  readonly jku?: string;
}

/**
 * Holds a private key. `sign` makes the JWS over `payload` with exactly this protected header and
 * returns both parts as base64url. `joseSigner` in `parley-a2a/protocol/jose` makes one.
 */
export interface CardSigner {
  /** Algorithm and key id, for the protected header. */
  readonly header: Omit<ProtectedHeader, 'typ'>;
  /** Signs the bytes of a canonical card. */
  sign(payload: Uint8Array, header: ProtectedHeader): Promise<{ readonly protected: string; readonly signature: string }>;
}

/**
 * One signature with the bytes that it should cover. `header` is the parsed and checked protected
 * header; it contains `jku` only if the policy allows that URL.
 */
export interface SignedPayload {
  readonly payload: Uint8Array;
  readonly protected: string;
  readonly signature: string;
  readonly header: { readonly alg: string; readonly kid: string; readonly jku?: string };
}

/**
 * Finds the key for a signature by its `kid`, among keys that it trusts, and verifies the signature.
 */
export interface CardVerifier {
  /** `unknown-key`: no trusted key has this id. */
  verify(signed: SignedPayload): Promise<'valid' | 'invalid' | 'unknown-key'>;
}

/** What `verifyCard` accepts. */
export interface VerifyPolicy {
  /** Default: `CARD_ALGORITHMS`. */
  readonly algorithms?: readonly string[];
  /**
   * Default: both forms. `['spec']` rejects signatures of the SDKs, whose form does not cover
   * everything.
   */
  readonly forms?: readonly SigningForm[];
  /**
   * Whether to trust a key set URL that the signature itself names. Default: never, since a `jku`
   * chooses its own root of trust (A2A#2096).
   */
  readonly allowsJku?: (url: string) => boolean;
  /** Maximum number of signatures to check, so that a card can't cause unbounded work. Default 8. */
  readonly signaturesMax?: number;
}

/** Ordered by how close a signature came to being valid. The closest failure is reported. */
const REFUSALS = ['malformed', 'no-kid', 'algorithm-not-allowed', 'unavailable', 'unknown-key', 'mismatch'] as const;
type Refusal = (typeof REFUSALS)[number];

/** A card with a valid signature. */
export interface GoodCard {
  readonly ok: true;
  readonly kid: string;
  readonly alg: string;
  readonly form: SigningForm;
  /** Paths in the card that the signature does not cover. Always empty in the `spec` form. */
  readonly uncovered: readonly string[];
}
interface Refused {
  readonly ok: false;
  readonly reason: Refusal;
  readonly kid?: string;
  readonly cause?: unknown;
}
/** Result of `verifyCard`. */
export type CardVerdict =
  | GoodCard
  | Refused
  | { readonly ok: false; readonly reason: 'unsigned' | 'not-canonical'; readonly cause?: unknown };

/**
 * Returns the card with a signature added in each form that differs, so that verifiers that follow the
 * specification and verifiers in the SDKs both find theirs. Existing signatures stay, which allows key
 * rotation. `forms: ['spec']` adds only the form of the specification.
 *
 * ```ts
 * const signed = await signCard(card, joseSigner({ key: privateKey, alg: 'ES256', kid: 'card-1' }));
 * ```
 */
export async function signCard(
  card: AgentCard,
  signer: CardSigner,
  options: { readonly forms?: readonly SigningForm[] } = {},
): Promise<AgentCard> {
  const { alg, kid, jku } = signer.header;
  if (NEVER.test(alg)) throw new A2AError('INVALID_PARAMS', `a card can't be signed with ${alg}`);
  if (kid === '') throw new A2AError('INVALID_PARAMS', 'a card signature needs a key id');
  const header: ProtectedHeader = { alg, kid, typ: 'JOSE', ...(jku === undefined ? {} : { jku }) };
  const added: AgentCardSignature[] = [];
  for (const { payload } of signingCandidates(card, options.forms)) {
    const made = await signer.sign(payload, header);
    added.push({ protected: made.protected, signature: made.signature });
  }
  return { ...card, signatures: [...(card.signatures ?? []), ...added] };
}

/**
 * Verifies the signatures of a card as it was received. One valid signature suffices; the form that
 * covers more is tried first. Returns a verdict for any input and does not throw because of the card's
 * content.
 *
 * ```ts
 * const verdict = await verifyCard(await response.json(), verifier);
 * if (!verdict.ok) throw new Error(`unverified card: ${verdict.reason}`);
 * ```
 */
export async function verifyCard(card: unknown, verifier: CardVerifier, policy: VerifyPolicy = {}): Promise<CardVerdict> {
  const raw = card as Json | undefined;
  const signatures = isObject(raw) ? raw['signatures'] : undefined;
  if (!isObject(raw) || !Array.isArray(signatures) || signatures.length === 0) return { ok: false, reason: 'unsigned' };
  let candidates: readonly SigningCandidate[];
  try {
    candidates = signingCandidates(raw, policy.forms);
  } catch (cause) {
    if (isA2AError(cause)) return { ok: false, reason: 'not-canonical', cause };
    throw cause;
  }
  const read = signatures.slice(0, policy.signaturesMax ?? 8).map((signature) => readSignature(signature, policy));
  let nearest: Refused = { ok: false, reason: 'malformed' };
  for (const candidate of candidates) {
    for (const signature of read) {
      const verdict = signature.ok ? await verifyOne(signature.signed, candidate, verifier) : signature;
      if (verdict.ok) return verdict;
      if (REFUSALS.indexOf(verdict.reason) >= REFUSALS.indexOf(nearest.reason)) nearest = verdict;
    }
  }
  return nearest;
}

type Readable = { readonly ok: true; readonly signed: Omit<SignedPayload, 'payload'> };

async function verifyOne(
  signed: Readable['signed'],
  { form, payload, uncovered }: SigningCandidate,
  verifier: CardVerifier,
): Promise<GoodCard | Refused> {
  const { kid, alg } = signed.header;
  try {
    const outcome = await verifier.verify({ ...signed, payload });
    if (outcome === 'valid') return { ok: true, kid, alg, form, uncovered };
    return { ok: false, reason: outcome === 'invalid' ? 'mismatch' : outcome, kid };
  } catch (cause) {
    return { ok: false, reason: 'unavailable', kid, cause };
  }
}

function readSignature(signature: Json, policy: VerifyPolicy): Readable | Refused {
  const malformed: Refused = { ok: false, reason: 'malformed' };
  if (!isObject(signature)) return malformed;
  const { protected: encoded, signature: value } = signature;
  if (typeof encoded !== 'string' || typeof value !== 'string') return malformed;
  const header = decodedHeader(encoded);
  // RFC 7515 §4.1.11: an unknown critical parameter makes a signature invalid, and we know none.
  if (header === undefined || typeof header['alg'] !== 'string' || header['crit'] !== undefined) return malformed;
  const { alg, kid, jku } = header;
  if (typeof kid !== 'string' || kid === '') return { ok: false, reason: 'no-kid' };
  if (NEVER.test(alg) || !(policy.algorithms ?? CARD_ALGORITHMS).includes(alg)) return { ok: false, reason: 'algorithm-not-allowed', kid };
  const allowed = typeof jku === 'string' && policy.allowsJku?.(jku) === true ? { jku } : {};
  return { ok: true, signed: { protected: encoded, signature: value, header: { alg, kid, ...allowed } } };
}

function decodedHeader(encoded: string): JsonObject | undefined {
  if (!/^[A-Za-z0-9_-]{1,8192}$/.test(encoded)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
    const header: Json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(header) ? header : undefined;
  } catch {
    return undefined;
  }
}
