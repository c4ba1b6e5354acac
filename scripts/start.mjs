// `npm start` after nothing but a clone: installs what is missing, then serves the demo agent and says where.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, ROOT } from './install.mjs';

ensureInstalled();
process.argv.splice(2, 0, 'serve');
await import(pathToFileURL(join(ROOT, 'bin/parley')).href);
