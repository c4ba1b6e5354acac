import { describe } from 'vitest';

/**
 * A suite that needs something which may not be here. Where it is missing the suite is left out, and the closing summary of
 * `npm test` says so; `.ci/run` fails on it.
 */
export function suiteNeeding(what: string, isThere: boolean, name: string, body: () => void): void {
  describe.skipIf(!isThere)(isThere ? name : `${name} [needs ${what}]`, body);
}
