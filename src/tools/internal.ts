// What the other rooms of this package may use of `tools`: its public door, and names that are no part of the published API.
export * from './index.ts';
