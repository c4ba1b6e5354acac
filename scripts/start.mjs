// `npm start` after nothing but a clone: installs what is missing, then serves the demo agent and says where.
// What follows `npm start --` goes to `parley serve`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, ROOT } from './install.mjs';

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  console.error(`This needs Node 20 or newer, and this is ${process.version}. Get one from https://nodejs.org, or: npm install -g node@24`);
  process.exit(1);
}
await ensureInstalled();
// npm passes a signal on to its shell, and not every shell passes it on to us: when the shell is gone, so are we.
const shell = process.ppid;
setInterval(() => process.ppid === shell || process.kill(process.pid, 'SIGTERM'), 500).unref();
process.argv.splice(2, 0, 'serve');
await import(pathToFileURL(join(ROOT, 'bin/parley')).href);
