import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outcome } from '../test/cli/contract/report.ts';
import { reportMarkdown, reportOf, reportYaml } from '../test/cli/contract/report.ts';

/** Runs the tests of the A2A CLI specification's requirements and writes what they found: docs/cli-conformance.md and .yaml. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parley-report-'));
const file = join(folder, 'results.json');
const args = [
  join(ROOT, 'node_modules/vitest/vitest.mjs'),
  'run',
  'test/cli/contract',
  '--exclude=**/report.test.ts',
  '--reporter=json',
  `--outputFile=${file}`,
];
console.log('Running the cases of test/cli/contract against the real program. This takes some minutes.');
spawnSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });

interface Results {
  readonly testResults: readonly { readonly assertionResults: readonly { readonly title: string; readonly status: string }[] }[];
}

const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Results;
rmSync(folder, { recursive: true });
const outcomes: Outcome[] = testResults.flatMap(({ assertionResults }) =>
  assertionResults.map(({ title, status }) => ({ title, passed: status === 'passed' })),
);

interface Manifest {
  readonly version: string;
  readonly repository?: string | { readonly url: string };
}

const { version, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const maintainer = /Copyright \(c\) \d+ (.+)/.exec(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))?.[1] ?? '';
const report = reportOf(outcomes, {
  version,
  date: new Date().toISOString().slice(0, 10),
  repository: (typeof repository === 'object' ? repository.url : repository) ?? 'not published yet: the package names no repository',
  maintainer,
});
writeFileSync(join(ROOT, 'docs/cli-conformance.yaml'), reportYaml(report));
writeFileSync(join(ROOT, 'docs/cli-conformance.md'), reportMarkdown(report));
console.log(
  `tier ${report.report.tier_claimed} is claimed; ${outcomes.filter(({ passed }) => !passed).length} of ${outcomes.length} tests failed`,
);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;
