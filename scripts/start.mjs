// `npm start`, also directly after a clone: installs the packages if they are missing, then serves the demo agent and prints its address.
// Arguments after `npm start --` go to `parley serve`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, ROOT } from './install.mjs';

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  console.error(`This needs Node 20 or newer, and this is ${process.version}. Get one from https://nodejs.org, or: npm install -g node@24`);
  process.exit(1);
}
await ensureInstalled();
// npm passes a signal to its shell, and not every shell passes it on. So this process stops when the shell has ended.
const shell = process.ppid;
setInterval(() => process.ppid === shell || process.kill(process.pid, 'SIGTERM'), 500).unref();
process.argv.splice(2, 0, 'serve');
await import(pathToFileURL(join(ROOT, 'bin/parley')).href);
