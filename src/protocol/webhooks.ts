import type { Json } from './json.ts';
import { parseJson } from './json.ts';
import { base64ToBytes, bytesToBase64 } from './parts.ts';

/**
 * Headers of a webhook. The signature follows Standard Webhooks (https://www.standardwebhooks.com) in
 * its asymmetric form: `v1a` is Ed25519 over `{id}.{timestamp}.{body}`. Signing and verifying need only
 * WebCrypto, so receivers on any runtime can verify.
 */
export const WEBHOOK_HEADERS = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
  /** Named so by A2A 0.1 to 0.3. A2A 1.0 has the token, but names no header for it. */
  token: 'X-A2A-Notification-Token',
} as const;

const ALGORITHM = 'Ed25519';
const SCHEME = 'v1a';
const PUBLIC_KEY = 'whpk_';
/** Five minutes, as Standard Webhooks recommends. */
const TOLERANCE_MS = 300_000;
/** Bounds the work that one request can cause with a header full of signatures. */
const SIGNATURES_MAX = 8;
const KEYS_MAX = 8;

/** One delivery, before it is signed. */
export interface WebhookMessage {
  readonly id: string;
  /** Unix time in whole seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * Signs a delivery with each key and returns the value of `webhook-signature`. Several keys allow
 * rotation: receivers that know only the previous or only the next key can still verify.
 */
export async function signWebhook(message: WebhookMessage, keys: readonly CryptoKey[]): Promise<string> {
  const signed = signedBytes(message.id, String(message.timestamp), new TextEncoder().encode(message.body));
  const signatures = await Promise.all(keys.map((key) => crypto.subtle.sign(ALGORITHM, key, signed)));
  return signatures.map((signature) => `${SCHEME},${bytesToBase64(new Uint8Array(signature))}`).join(' ');
}

/** A public key of the sender: a JSON Web Key, or Standard Webhooks' own form, `whpk_` and base64. */
export type WebhookKey = JsonWebKey | string;

/** Options of `verifyWebhook`. */
export interface VerifyWebhookOptions {
  /**
   * Public keys of the sender: its `/.well-known/jwks.json`, or single keys. Fetch them once over https
   * from the server where you registered the webhook. At most 8 are tried.
   */
  readonly keys: { readonly keys: readonly JsonWebKey[] } | readonly WebhookKey[];
  /** Maximum difference between the timestamp and now, in either direction. Default 5 minutes. */
  readonly toleranceMs?: number;
  /** Current time, for tests. */
  readonly now?: () => Date;
}

/** A delivery as it arrived: a `Request`, or its headers and its unparsed body. */
export type IncomingWebhook =
  | Request
  | { readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>; readonly body: string | Uint8Array };

/** A delivery whose signature is valid. */
export interface VerifiedWebhook {
  /**
   * Equal for all repetitions of one delivery. Remember ids that you have processed, and ignore
   * repetitions.
   */
  readonly id: string;
  /** The signed timestamp. */
  readonly sentAt: Date;
  /** The body as it was signed. */
  readonly body: string;
  /** The body, parsed. */
  readonly payload: Json;
}

/**
 * Why a delivery was rejected. `unsigned`: a header is missing or malformed. `stale`: the timestamp is
 * too old or in the future. `forged`: none of the keys made the signature. `malformed`: the body is not
 * JSON.
 */
export type WebhookFault = 'unsigned' | 'stale' | 'forged' | 'malformed';

/**
 * Thrown by `verifyWebhook`. Answer such a request with status 400 or 401 and process nothing of it.
 */
export class WebhookError extends Error {
  override readonly name: string = 'WebhookError';
  /** The reason, for code. */
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/**
 * Verifies that a delivery was signed by one of the keys, and recently. Throws a `WebhookError`
 * otherwise.
 *
 * ```ts
 * const { id, payload } = await verifyWebhook(request, { keys: await (await fetch(jwksUrl)).json() });
 * ```
 */
export async function verifyWebhook(incoming: IncomingWebhook, options: VerifyWebhookOptions): Promise<VerifiedWebhook> {
  const header = headersOf(incoming);
  const [id, timestamp, signature] = [header(WEBHOOK_HEADERS.id), header(WEBHOOK_HEADERS.timestamp), header(WEBHOOK_HEADERS.signature)];
  if (!id || !timestamp || !signature) throw new WebhookError('unsigned', 'webhook-id, webhook-timestamp and webhook-signature are needed');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('unsigned', 'webhook-timestamp is not a time');
  const sentAt = new Date(Number(timestamp) * 1000);
  const now = options.now?.() ?? new Date();
  if (Math.abs(now.getTime() - sentAt.getTime()) > (options.toleranceMs ?? TOLERANCE_MS)) {
    throw new WebhookError('stale', `it was sent at ${sentAt.toISOString()}, and it is ${now.toISOString()}`);
  }
  const bytes = await bodyOf(incoming);
  const signed = signedBytes(id, timestamp, bytes);
  if (!(await isSigned(signed, signaturesIn(signature), options))) throw new WebhookError('forged', 'none of the keys has signed this');
  const body = new TextDecoder().decode(bytes);
  return { id, sentAt, body, payload: parsed(body) };
}

async function isSigned(signed: Bytes, signatures: readonly Bytes[], options: VerifyWebhookOptions): Promise<boolean> {
  const given: readonly WebhookKey[] = isKeySet(options.keys) ? options.keys.keys.filter(isEd25519) : options.keys;
  for (const key of given.slice(0, KEYS_MAX)) {
    const imported = await importKey(key);
    for (const signature of signatures) if (await crypto.subtle.verify(ALGORITHM, imported, signature, signed)) return true;
  }
  return false;
}

function isKeySet(keys: VerifyWebhookOptions['keys']): keys is { readonly keys: readonly JsonWebKey[] } {
  return !Array.isArray(keys);
}

/** A key set may contain keys for other uses, such as card signing. */
function isEd25519({ kty, crv, use }: JsonWebKey): boolean {
  return kty === 'OKP' && crv === 'Ed25519' && (use === undefined || use === 'sig');
}

async function importKey(key: WebhookKey): Promise<CryptoKey> {
  if (typeof key !== 'string') return crypto.subtle.importKey('jwk', publicPart(key), ALGORITHM, false, ['verify']);
  if (!key.startsWith(PUBLIC_KEY)) throw new TypeError(`a key is a JSON Web Key, or ${PUBLIC_KEY} and base64`);
  return crypto.subtle.importKey('raw', bytesIn(key.slice(PUBLIC_KEY.length)), ALGORITHM, false, ['verify']);
}

/** WebCrypto rejects a key whose `use`, `key_ops` or private members do not match the requested use. */
function publicPart({ kty, crv, x }: JsonWebKey): JsonWebKey {
  return { ...(kty === undefined ? {} : { kty }), ...(crv === undefined ? {} : { crv }), ...(x === undefined ? {} : { x }) };
}

function signaturesIn(header: string): readonly Bytes[] {
  const found = header.split(' ').filter((each) => each.startsWith(`${SCHEME},`));
  if (found.length === 0) throw new WebhookError('unsigned', `webhook-signature has no ${SCHEME} signature`);
  try {
    return found.slice(0, SIGNATURES_MAX).map((each) => bytesIn(each.slice(SCHEME.length + 1)));
  } catch {
    throw new WebhookError('unsigned', 'webhook-signature is not base64');
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

function bytesIn(base64: string): Bytes {
  return new Uint8Array(base64ToBytes(base64));
}

function signedBytes(id: string, timestamp: string, body: Uint8Array): Bytes {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
}

function headersOf({ headers }: IncomingWebhook): (name: string) => string | undefined {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = byName.get(name);
    return typeof value === 'object' ? value[0] : value;
  };
}

async function bodyOf(incoming: IncomingWebhook): Promise<Uint8Array> {
  if (incoming instanceof Request) return new Uint8Array(await incoming.arrayBuffer());
  return typeof incoming.body === 'string' ? new TextEncoder().encode(incoming.body) : incoming.body;
}

function parsed(body: string): Json {
  try {
    return parseJson(body);
  } catch {
    throw new WebhookError('malformed', 'the body is signed, but it is not JSON');
  }
}
