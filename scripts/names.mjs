// Fails when two exported types share a name: one exported type name stands for one thing in all of src/.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './install.mjs';

const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], { cwd: ROOT, encoding: 'utf8' });
const files = [...new Set(list.split('\n'))].filter((name) => /[.]tsx?$/.test(name) && !/[.]test[.]tsx?$|[/]generated[/]/.test(name));
const places = new Map();
for (const file of files) {
  if (!existsSync(join(ROOT, file))) continue;
  const text = readFileSync(join(ROOT, file), 'utf8');
  for (const [, name] of text.matchAll(/^export (?:declare |abstract )*(?:interface|type|class|enum) (\w+)/gm)) {
    places.set(name, [...(places.get(name) ?? []), file]);
  }
}
const only = process.argv.slice(2);
const twice = [...places]
  .filter(([, found]) => found.length > 1)
  .filter(([, found]) => only.length === 0 || found.some((file) => only.some((prefix) => file.startsWith(prefix))));
for (const [name, found] of twice) console.error(`${name} is exported ${found.length} times: ${found.join(', ')}`);
console.log(`${places.size} exported type names, ${twice.length} of them used twice`);
process.exit(twice.length === 0 ? 0 : 1);
