// What the other rooms of this package may use of `protocol`: its public door, and names that are no part of the published API.
export { addedParts, appendParts } from './chunks.ts';
export * from './index.ts';
