// What a client needs only for some agents: dialects other than the current one, signatures of cards, card files, addresses without a
// card, and the words for cards that can't be used. It imports nothing of the rest of the client, not even the class of its errors, so that
// bundlers keep that in one file.
import type { Registry } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';

export const everyDialect: Registry = createRegistry(DIALECTS);

export { readCardFile } from './card-file.ts';
export { checkSignature } from './card-signature.ts';
export { cardlessEndpoints, otherDialects } from './cardless.ts';
export { mostHelpful } from './most-helpful.ts';
export { notJson, notReadable } from './no-card.ts';
export { noEndpoint, sentInside } from './no-endpoint.ts';
