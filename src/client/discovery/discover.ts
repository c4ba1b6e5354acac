import type { ClientErrorKind } from '../errors/client-error.ts';
import { ClientError, isClientError } from '../errors/client-error.ts';
import { wasNeverSent } from '../errors/network.ts';
import type { CardDocument, FetchCardOptions } from './card-document.ts';
import { fetchCard } from './card-document.ts';
import type { Place } from './target.ts';
import { placesOf, sameAddress } from './target.ts';

export interface Discovered {
  readonly document: CardDocument;
  readonly base: string;
}

/** Either a card, or what every place said in its stead. */
export type Discovery =
  | { readonly ok: true; readonly found: Discovered }
  | { readonly ok: false; readonly failures: readonly ClientError[] };

/** Looks for the card of an address at every place that is known. What stops any request stops the search. */
export async function discover(url: URL, options: FetchCardOptions): Promise<Discovery> {
  const failures: ClientError[] = [];
  for (const place of placesOf(url)) {
    try {
      const document = await fetchCard(place.cardUrl, options);
      if (place.mustName && !names(document, url)) continue;
      return { ok: true, found: { document, base: place.base } };
    } catch (thrown) {
      if (!isClientError(thrown) || stops(thrown, place)) throw thrown;
      failures.push(thrown);
    }
  }
  return { ok: false, failures };
}

function stops({ kind }: ClientError, { mustName }: Place): boolean {
  return (
    !mustName &&
    (wasNeverSent(kind) || kind === 'unreachable' || kind === 'timeout' || kind === 'aborted' || kind === 'credentials-missing')
  );
}

/** The card is of the agent at this address, or of one under it. */
function names({ found }: CardDocument, url: URL): boolean {
  return found.card.value.supportedInterfaces.some((iface) => sameAddress(iface.url, url.href) || iface.url.startsWith(`${url.href}/`));
}

/** What tells most, first. */
const TELLING: readonly ClientErrorKind[] = [
  'unauthenticated',
  'forbidden',
  'auth-failed',
  'card-invalid',
  'cut-off',
  'too-large',
  'rate-limited',
  'server-error',
  'redirect',
  'html',
  'not-an-agent',
  'garbage',
  'http-error',
  'not-found',
];

/** Of all that was said, what helps most. */
export function mostTelling(failures: readonly ClientError[], url: URL): ClientError {
  for (const kind of TELLING) {
    const found = failures.find((failure) => failure.kind === kind);
    if (found === undefined) continue;
    return kind === 'not-found' ? nobody(url, found) : found;
  }
  return nobody(url, undefined);
}

function nobody(url: URL, cause: ClientError | undefined): ClientError {
  return new ClientError('not-found', `there is no agent at ${url.href}`, {
    url: url.href,
    why: 'it has no agent card, and answers no call of A2A',
    ...(cause === undefined ? {} : { cause }),
    ...(cause?.status === undefined ? {} : { status: cause.status }),
    hint: 'check the address; if the agent is reached at another path, give that one',
  });
}
