import { isObject } from '#protocol';
import type { CardFollower } from '../discovery/card-follower.ts';
import { ClientError } from '../errors/client-error.ts';

type CatalogObject = Readonly<Record<string, unknown>>;

const CARD_TYPES = /^application\/(?:a2a-agent-card\+json|vnd\.a2a\.agent-card\+json)$/;

/** The entry that was asked for and the names of the entries that a catalog has. The `cause` of a `no-entry` error. */
export class MissingEntry {
  /** The entry that was asked for. Undefined: none was named, and the catalog has several. */
  readonly wanted: string | undefined;
  /** The entries that exist. */
  readonly names: readonly string[];

  constructor(wanted: string | undefined, names: readonly string[]) {
    this.wanted = wanted;
    this.names = names;
  }
}

/**
 * Follows an AI catalog, or one entry of it, to a card (docs/cards.md). `wanted` is the identifier or the name of an entry. It is needed if the
 * catalog lists several agents.
 *
 * ```ts
 * const found = await findAgentCard('https://agent.example/.well-known/ai-catalog.json', { followCards: catalogEntry('echo') });
 * ```
 */
export function catalogEntry(wanted?: string): CardFollower {
  return (document) => {
    if (!isObject(document)) return undefined;
    if (isEntry(document)) return pointed(document);
    const entries = document['entries'];
    if (!Array.isArray(entries) || typeof document['specVersion'] !== 'string') return undefined;
    const cards = entries.filter(isObject).filter(isEntry);
    const fitting = wanted === undefined ? cards : cards.filter((entry) => namesOf(entry).includes(wanted));
    const [found, ...others] = fitting;
    if (found !== undefined && others.length === 0) return pointed(found);
    throw missing(wanted, cards);
  };
}

/** The error for a catalog entry that does not exist, or that has to be named. */
function missing(wanted: string | undefined, cards: readonly CatalogObject[]): ClientError {
  const names = cards.map((entry) => namesOf(entry).at(-1) ?? '');
  const what = wanted === undefined ? `this is a catalog of ${cards.length} agents` : `the catalog has no single agent ${wanted}`;
  return new ClientError('no-entry', what, {
    ...(names.length === 0 ? {} : { hint: `add one to the address, as #${names[0]}; the catalog has: ${names.join(', ')}` }),
    cause: new MissingEntry(wanted, names),
  });
}

function isEntry(value: CatalogObject): boolean {
  const type = value['type'] ?? value['mediaType'];
  return typeof type === 'string' && CARD_TYPES.test(type) && ('url' in value || 'data' in value);
}

function pointed({ url, data }: CatalogObject): { readonly card: unknown } | { readonly url: string } {
  return data === undefined ? { url: String(url) } : { card: data };
}

/** Its identifier, its display name, and the last word of its identifier. */
function namesOf({ identifier, displayName }: CatalogObject): readonly string[] {
  const id = typeof identifier === 'string' ? identifier : '';
  return [id, ...(typeof displayName === 'string' ? [displayName] : []), id.split(':').at(-1) ?? ''];
}
