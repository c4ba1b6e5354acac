import type { ClientError } from '../errors/client-error.ts';
import { isClientError } from '../errors/client-error.ts';
import { wasNeverSent } from '../errors/network.ts';
import type { CardDocument, FetchCardOptions } from './card-document.ts';
import { fetchCard } from './card-document.ts';
import type { CardLocation } from './target.ts';
import { cardLocations, sameAddress } from './target.ts';

/** A card and the address that it belongs to. */
export interface DiscoveredCard {
  readonly document: CardDocument;
  readonly base: string;
}

/** A card, or why each place has none. */
export type Discovery =
  | { readonly ok: true; readonly found: DiscoveredCard }
  | { readonly ok: false; readonly failures: readonly ClientError[] };

/** Looks for the card of an address at every place where agents serve one. Stops at failures that every place would share. */
export async function discover(url: URL, options: FetchCardOptions): Promise<Discovery> {
  const failures: ClientError[] = [];
  for (const location of cardLocations(url)) {
    try {
      const document = await fetchCard(location.cardUrl, options);
      if (location.mustName && !names(document, url)) continue;
      return { ok: true, found: { document, base: location.base } };
    } catch (thrown) {
      if (!isClientError(thrown) || stops(thrown, location)) throw thrown;
      failures.push(thrown);
    }
  }
  return { ok: false, failures };
}

function stops({ kind }: ClientError, { mustName }: CardLocation): boolean {
  return (
    !mustName &&
    (wasNeverSent(kind) || kind === 'unreachable' || kind === 'timeout' || kind === 'aborted' || kind === 'credentials-missing')
  );
}

/** The card belongs to the agent at this address, or to one below it. */
function names({ found }: CardDocument, url: URL): boolean {
  return found.card.value.supportedInterfaces.some((iface) => sameAddress(iface.url, url.href) || iface.url.startsWith(`${url.href}/`));
}
