import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Tier } from '../test/tiers.ts';
import { ONLY_IN_ALL } from '../test/tiers.ts';

/**
 * Prints, after the tests: the suites that were left out because a program is missing, what this command leaves to another one, and the
 * counts in one line. With PARLEY_LEAVE_NOTHING_OUT=1 a missing program makes the run fail.
 */
export class ClosingReporter implements Reporter {
  readonly #tier: Tier | undefined;

  constructor(tier?: Tier) {
    this.#tier = tier;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const missing = [...new Set(tests.map(missingFor).filter((reason) => reason !== undefined))];
    for (const reason of missing) process.stdout.write(`left out: ${reason}\n`);
    for (const line of leftToOthers(this.#tier)) process.stdout.write(`${line}\n`);
    if (missing.length > 0 && process.env['PARLEY_LEAVE_NOTHING_OUT'] === '1') {
      process.stdout.write('This run fails, because suites were left out (see above) and PARLEY_LEAVE_NOTHING_OUT=1 is set.\n');
      process.exitCode = 1;
    }
    process.stdout.write(`${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped\n`);
  }
}

function missingFor(test: TestCase): string | undefined {
  return /^(.*) \[needs (.*?)\]/.exec(test.fullName)?.slice(1, 3).join(': needs ');
}

function leftToOthers(tier: Tier | undefined): readonly string[] {
  switch (tier) {
    case 'unit':
      return ['Not run here: everything under test/. Run it with npm test.'];
    case 'default':
      return [
        'Not run here, because it takes long or needs other programs (npm run test:all runs it):',
        ...ONLY_IN_ALL.map(({ what }) => `  - ${what}`),
      ];
    default:
      return [];
  }
}
