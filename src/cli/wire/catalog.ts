import type { Json, JsonObject } from '#protocol';
import { CliError } from '../command.ts';

const CARD_TYPES = /^application\/(?:a2a-agent-card\+json|vnd\.a2a\.agent-card\+json)$/;

/** A card, or where one is, out of what a catalog or registry says (reference/catalog §2, A2ACLI_CARD_GET_005). */
export type Entry = { readonly kind: 'card'; readonly card: Json } | { readonly kind: 'url'; readonly url: string };

/** Undefined: the document is neither a catalog nor an entry of one. */
export function entryIn(document: unknown, wanted: string | undefined): Entry | undefined {
  if (!isObject(document)) return undefined;
  if (isEntry(document)) return pointed(document);
  const entries = document['entries'];
  if (!Array.isArray(entries) || typeof document['specVersion'] !== 'string') return undefined;
  const cards = entries.filter(isObject).filter(isEntry);
  const found = wanted === undefined ? (cards.length === 1 ? cards : []) : cards.filter((entry) => namesOf(entry).includes(wanted));
  if (found.length === 1 && found[0] !== undefined) return pointed(found[0]);
  const names = cards.map((entry) => namesOf(entry).at(-1) ?? '');
  throw new CliError(wanted === undefined ? `this is a catalog of ${cards.length} agents` : `the catalog has no single agent ${wanted}`, {
    code: 'A2ACLI_ERR_CARD_NOT_FOUND',
    ...(wanted === undefined ? {} : { meant: { word: wanted, known: names } }),
    hint: names.length === 0 ? undefined : `add one to the reference, as #${names[0]}; there are: ${names.join(', ')}`,
    exit: 3,
  });
}

function isEntry(value: JsonObject): boolean {
  const type = value['type'] ?? value['mediaType'];
  return typeof type === 'string' && CARD_TYPES.test(type) && ('url' in value || 'data' in value);
}

function pointed(entry: JsonObject): Entry {
  const { url, data } = entry;
  if (data !== undefined) return { kind: 'card', card: data };
  return { kind: 'url', url: String(url) };
}

/** Its identifier, its display name, and the last word of its identifier. */
function namesOf({ identifier, displayName }: JsonObject): readonly string[] {
  const id = typeof identifier === 'string' ? identifier : '';
  return [id, ...(typeof displayName === 'string' ? [displayName] : []), id.split(':').at(-1) ?? ''];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
