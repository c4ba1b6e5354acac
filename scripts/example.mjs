// `npm run example NAME`: runs examples/NAME/main.ts, an agent and its caller, with the Node that the checkout brings. Without a name it lists them.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

const names = readdirSync(join(ROOT, 'examples')).filter((name) => existsSync(join(ROOT, 'examples', name, 'main.ts')));
const [name] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  console.error(`Which example? ${names.join(', ')}. For example: npm run example ${names[0]}`);
  process.exit(2);
}
await ensureInstalled();
const { status } = runTool('node', ['--conditions=our-src', `examples/${name}/main.ts`]);
process.exit(status ?? 1);
