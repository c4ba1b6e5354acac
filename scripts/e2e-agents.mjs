// `npm run e2e:agents [NAME…]`: real coding CLIs from npm against the fake model. Writes what each can do to docs/coding-agents.md.
import { ensureInstalled, runTool } from './install.mjs';

ensureInstalled();
const names = process.argv.slice(2);
const { status } = runTool('vitest', ['run', '--config', 'vitest.e2e.config.ts'], { env: { ...process.env, PARLEY_E2E: names.join(',') } });
process.exit(status ?? 1);
