import { appendFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';
import type { Tier } from '../test/tiers.ts';
import { ONLY_IN_ALL } from '../test/tiers.ts';

/**
 * Prints, after the tests: the suites that were left out because a program is missing, what this command leaves to another one, and the
 * counts in one line. With PARLEY_LEAVE_NOTHING_OUT=1 a missing program makes the run fail. What failed is also appended to the file that
 * PARLEY_FAILURES names, so that scripts/test.mjs can repeat it after its last step.
 */
export class ClosingReporter implements Reporter {
  readonly #tier: Tier | undefined;

  constructor(tier?: Tier) {
    this.#tier = tier;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[] = []): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const missing = [...new Set(tests.map(missingFor).filter((reason) => reason !== undefined))];
    for (const reason of missing) process.stdout.write(`left out: ${reason}\n`);
    for (const line of leftToOthers(this.#tier)) process.stdout.write(`${line}\n`);
    if (missing.length > 0 && process.env['PARLEY_LEAVE_NOTHING_OUT'] === '1') {
      process.stdout.write('This run fails, because suites were left out (see above) and PARLEY_LEAVE_NOTHING_OUT=1 is set.\n');
      process.exitCode = 1;
      keep(missing.map((reason) => `left out: ${reason}`));
    }
    keep([
      ...tests.filter((test) => test.result().state === 'failed').map(failedTest),
      ...modules.flatMap((module) => module.errors().map((error) => `${module.relativeModuleId}: ${firstLine(error)}`)),
      ...unhandled.map((error) => `an error outside of any test: ${firstLine(error)}`),
    ]);
    process.stdout.write(`${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped\n`);
  }
}

function keep(lines: readonly string[]): void {
  const file = process.env['PARLEY_FAILURES'];
  if (file !== undefined) for (const line of lines) appendFileSync(file, `${line}\n`);
}

function failedTest(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}: ${(test.result().errors ?? []).map(firstLine).join(' | ')}`;
}

function firstLine(error: { readonly message: string }): string {
  return error.message.split('\n', 1)[0] ?? '';
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
