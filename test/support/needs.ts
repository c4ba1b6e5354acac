import { describe } from 'vitest';

/**
 * A suite that needs a program which may be missing. Without the program the suite is skipped, and the summary of the test run names it.
 * `.ci/run` fails then.
 */
export function suiteNeeding(what: string, isThere: boolean, name: string, body: () => void): void {
  describe.skipIf(!isThere)(isThere ? name : `${name} [needs ${what}]`, body);
}
