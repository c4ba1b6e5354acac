// `npm start` after nothing but a clone: installs what is missing, then shows one message in every dialect.
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

ensureInstalled();
const message = join(ROOT, 'examples/hello/request.json');
console.error('One A2A 0.3 request, in every dialect that Parley speaks. Yours: bin/parley translate --to v10 < request.json\n');
const stdio = [openSync(message, 'r'), 'inherit', 'inherit'];
const { status } = runTool('node', [join(ROOT, 'bin/parley'), 'translate', '--to', 'all'], { stdio });
process.exit(status ?? 1);
