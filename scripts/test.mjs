// `npm test` after nothing but a clone: installs what is missing, runs every test, and says what was left out.
import { ensureInstalled, runTool } from './install.mjs';

await ensureInstalled();
const { status } = runTool('vitest', ['run', ...process.argv.slice(2)]);
process.exit(status ?? 1);
