import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The closing summary: one plain line of counts, and each suite that was left out with what it needed. */
export class ClosingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length;
    const leftOut = [...new Set(tests.map(reasonOf).filter((reason) => reason !== undefined))];
    for (const reason of leftOut) process.stdout.write(`left out: ${reason}\n`);
    process.stdout.write(`${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped\n`);
    if (leftOut.length > 0 && process.env['PARLEY_LEAVE_NOTHING_OUT'] === '1') process.exitCode = 1;
  }
}

function reasonOf(test: TestCase): string | undefined {
  return /^(.*) \[needs (.*?)\]/.exec(test.fullName)?.slice(1, 3).join(': needs ');
}
