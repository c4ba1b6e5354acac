/**
 * Follows a document that is not a card but leads to one, such as a catalog: returns the card inside it, or the address of the next
 * document. Undefined: the document is a card. `catalogEntry` of `parley-a2a/client/strict` makes one.
 */
export type CardFollower = (document: unknown) => { readonly card: unknown } | { readonly url: string } | undefined;
