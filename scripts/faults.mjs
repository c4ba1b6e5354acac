// `npm run faults`: every repeated fault in its full size (1,000 kills of the server, 10,000 streams …). Takes about an hour.
import { ensureInstalled, runTool } from './install.mjs';

await ensureInstalled();
process.env['PARLEY_FAULTS'] = 'full';
// What is measured is measured on the package as people install it.
const built = runTool('tsc', ['-p', 'tsconfig.build.json']);
if (built.status !== 0) process.exit(built.status ?? 1);
const { status } = runTool('vitest', [
  'run',
  '--no-file-parallelism',
  ...(process.argv.length > 2 ? process.argv.slice(2) : ['test/faults', 'test/server/config-keys.test.ts']),
]);
process.exit(status ?? 1);
