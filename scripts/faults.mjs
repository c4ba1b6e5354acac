// `npm run faults [FILE…]`: every repeated fault in its full size (1,000 kills of the server, 10,000 streams …), and every figure (a duration, a
// rate, an amount of memory) compared with its limit. Takes about an hour, on a machine that does nothing else.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

await ensureInstalled();
process.env['PARLEY_FAULTS'] = 'full';
// Figures are taken from the package as users install it.
const built = runTool('tsc', ['-p', 'tsconfig.build.json']);
if (built.status !== 0) process.exit(built.status ?? 1);
const given = process.argv.slice(2);
const { status } = runTool('vitest', ['run', '--no-file-parallelism', ...(given.length > 0 ? given : filesWithFigures())]);
process.exit(status ?? 1);

/** The faults, and every other test file with a figure in it. */
function filesWithFigures() {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .filter(
      (name) =>
        name.startsWith('test/faults/') ||
        name.endsWith('/config-keys.test.ts') ||
        readFileSync(join(ROOT, name), 'utf8').includes('expectFigure'),
    );
}
