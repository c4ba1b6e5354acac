// What the other rooms of this package may use of `client`: its public door, and names that are no part of the published API.

export { authenticatorOf } from './auth/credentials.ts';
export { checkOffered } from './calls/skills.ts';
export { CLIENT_ERRORS } from './errors/kinds.ts';
export * from './index.ts';
export { DEFAULT_RETRY } from './retry/retry.ts';
