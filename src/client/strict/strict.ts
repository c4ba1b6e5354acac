/**
 * The rules of the A2A CLI specification for clients, as options of `A2AClient.connect`: one endpoint, chosen by version and binding;
 * credentials only where the card asks for them; catalogs in place of cards; answers as the agent sent them. A page in a browser does not
 * need these, so the client's main entry does not include them.
 */
export type { CredentialChoice, CredentialKind, Credentials, PlacedCredential } from './card-credentials.ts';
export { cardCredentials, chooseCredentials, credentialKind, fetchWithCredentials } from './card-credentials.ts';
export { catalogEntry, MissingEntry } from './catalog.ts';
export type { RawAnswers } from './raw-answers.ts';
export { createRawAnswers } from './raw-answers.ts';
export type { StrictOptions } from './strict-mode.ts';
export { STRICT_VERSION, strictMode } from './strict-mode.ts';
