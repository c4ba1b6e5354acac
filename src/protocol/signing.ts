import { canonicalJson } from './canonical-json.ts';
import type { AgentCard, AgentCardSignature } from './card.ts';
import type { CardField } from './card-fields.ts';
import { cardView, isObject } from './card-fields.ts';
import { wrapFlatSchemes } from './dialects/flat-schemes.ts';
import { A2AError, isA2AError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

/**
 * Agent card signatures, A2A 1.0.1 §8.4: a detached JWS (RFC 7515) over the canonical JSON (RFC 8785) of the card's 1.0 view
 * without `signatures`. What 1.0 does not know (a superset's older members) is not covered, so nobody may act on it.
 *
 * `spec` is §8.4.1: REQUIRED members always stay, `optional` ones if set, others unless default. `sdk` is what a2a-js and
 * a2a-python really sign: as `spec`, but every empty text, list and object goes, required or not (a2a-js#627, A2A#2122). It
 * does not see that an empty-scoped requirement was taken away, which is why a verdict says which form it was.
 */
export type SigningForm = 'spec' | 'sdk';
const FORMS: readonly SigningForm[] = ['spec', 'sdk'];

/** Asymmetric, and in every JOSE library. A policy may name others; `none` and shared secrets are refused whatever it says. */
export const CARD_ALGORITHMS: readonly string[] = ['ES256', 'RS256', 'EdDSA', 'Ed25519'];
const NEVER = /^(?:none|HS\d+)$/i;

export interface ProtectedHeader {
  readonly alg: string;
  readonly kid: string;
  readonly typ: 'JOSE';
  readonly jku?: string;
}

/** Holds a private key. `sign` makes the JWS over `payload` with exactly this protected header, both parts base64url. */
export interface CardSigner {
  readonly header: Omit<ProtectedHeader, 'typ'>;
  sign(payload: Uint8Array, header: ProtectedHeader): Promise<{ readonly protected: string; readonly signature: string }>;
}

/** One signature and what it should be over. `header` is the protected one, read and checked; `jku` only if the policy allows it. */
export interface SignedPayload {
  readonly payload: Uint8Array;
  readonly protected: string;
  readonly signature: string;
  readonly header: { readonly alg: string; readonly kid: string; readonly jku?: string };
}

/** Knows whom to trust: it finds the key by `kid`, from its own store. */
export interface CardVerifier {
  verify(signed: SignedPayload): Promise<'valid' | 'invalid' | 'unknown-key'>;
}

export interface VerifyPolicy {
  readonly algorithms?: readonly string[];
  readonly forms?: readonly SigningForm[];
  /** A `jku` names its own root of trust (A2A#2096): it is ignored unless this says that the address is one of ours. */
  readonly allowsJku?: (url: string) => boolean;
  /** Signatures looked at; a card with thousands must not buy thousands of verifications. */
  readonly signaturesMax?: number;
}

/** Ordered by how near the signature came: of several, the nearest is told. */
const REFUSALS = ['malformed', 'no-kid', 'algorithm-not-allowed', 'unavailable', 'unknown-key', 'mismatch'] as const;
type Refusal = (typeof REFUSALS)[number];

export type CardVerdict =
  | { readonly ok: true; readonly kid: string; readonly alg: string; readonly form: SigningForm }
  | { readonly ok: false; readonly reason: 'unsigned' | 'not-canonical' | Refusal; readonly kid?: string; readonly cause?: unknown };

/** The bytes that a signature covers. Takes a card as it was received, not as it was read: reading fills in and tidies. */
export function signingPayload(card: AgentCard | JsonObject, form: SigningForm = 'spec'): Uint8Array {
  const { signatures: _, ...view } = cardView(wrapFlatSchemes(card as JsonObject), isKept);
  const spec = canonicalJson(view); // first: it refuses what is too deep for the next step's recursion
  return new TextEncoder().encode(form === 'spec' ? spec : canonicalJson(withoutEmpty(view) ?? {}));
}

function isKept(field: CardField, value: Json): boolean {
  return field.presence !== 'plain' || !(value === false || isEmpty(value));
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function withoutEmpty(value: Json): Json | undefined {
  let out: Json = value;
  if (Array.isArray(value)) out = value.map(withoutEmpty).filter((item) => item !== undefined);
  else if (isObject(value)) {
    const members = Object.entries(value).map(([name, item]) => [name, withoutEmpty(item)] as const);
    out = Object.fromEntries(members.filter((entry): entry is [string, Json] => entry[1] !== undefined));
  }
  return isEmpty(out) ? undefined : out;
}

/**
 * Adds a signature in each form that differs, so that verifiers by the text and verifiers by the SDKs both find theirs; other
 * signatures stay (key rotation). `forms: ['spec']` signs by the text alone.
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
  for (const { payload } of candidates(card as unknown as JsonObject, options.forms ?? FORMS)) {
    const made = await signer.sign(payload, header);
    added.push({ protected: made.protected, signature: made.signature });
  }
  return { ...card, signatures: [...(card.signatures ?? []), ...added] };
}

interface Candidate {
  readonly form: SigningForm;
  readonly payload: Uint8Array;
}

function candidates(card: JsonObject, forms: readonly SigningForm[]): readonly Candidate[] {
  const all = FORMS.filter((form) => forms.includes(form)).map((form) => ({ form, payload: signingPayload(card, form) }));
  const [first, second] = all;
  return first !== undefined && second !== undefined && sameBytes(first.payload, second.payload) ? [first] : all;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Verifies a card as received. One good signature is enough; nothing about the card is thrown. */
export async function verifyCard(card: unknown, verifier: CardVerifier, policy: VerifyPolicy = {}): Promise<CardVerdict> {
  const raw = card as Json | undefined;
  const signatures = isObject(raw) ? raw['signatures'] : undefined;
  if (!isObject(raw) || !Array.isArray(signatures) || signatures.length === 0) return { ok: false, reason: 'unsigned' };
  let payloads: readonly Candidate[];
  try {
    payloads = candidates(raw, policy.forms ?? FORMS);
  } catch (thrown) {
    if (isA2AError(thrown)) return { ok: false, reason: 'not-canonical', cause: thrown };
    throw thrown;
  }
  let nearest: Refused = { ok: false, reason: 'malformed' };
  for (const signature of signatures.slice(0, policy.signaturesMax ?? 8)) {
    const verdict = await verifyOne(signature, payloads, verifier, policy);
    if (verdict.ok) return verdict;
    if (REFUSALS.indexOf(verdict.reason) >= REFUSALS.indexOf(nearest.reason)) nearest = verdict;
  }
  return nearest;
}

type Refused = { readonly ok: false; readonly reason: Refusal; readonly kid?: string; readonly cause?: unknown };

async function verifyOne(
  signature: Json,
  payloads: readonly Candidate[],
  verifier: CardVerifier,
  policy: VerifyPolicy,
): Promise<Extract<CardVerdict, { ok: true }> | Refused> {
  const read = readSignature(signature, policy);
  if (!read.ok) return read;
  const { kid, alg } = read.signed.header;
  for (const { form, payload } of payloads) {
    let outcome: Awaited<ReturnType<CardVerifier['verify']>>;
    try {
      outcome = await verifier.verify({ ...read.signed, payload });
    } catch (cause) {
      return { ok: false, reason: 'unavailable', kid, cause };
    }
    if (outcome === 'valid') return { ok: true, kid, alg, form };
    if (outcome === 'unknown-key') return { ok: false, reason: 'unknown-key', kid };
  }
  return { ok: false, reason: 'mismatch', kid };
}

type ReadSignature = { readonly ok: true; readonly signed: Omit<SignedPayload, 'payload'> };

function readSignature(signature: Json, policy: VerifyPolicy): ReadSignature | Refused {
  const malformed: Refused = { ok: false, reason: 'malformed' };
  if (!isObject(signature)) return malformed;
  const { protected: encoded, signature: value } = signature;
  if (typeof encoded !== 'string' || typeof value !== 'string') return malformed;
  const header = decodedHeader(encoded);
  // RFC 7515 §4.1.11: what is critical and not understood makes a signature invalid, and we understand none.
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
