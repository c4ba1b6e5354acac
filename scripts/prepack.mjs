// Runs before `npm pack`: builds everything that the package contains and git does not (dist/, the console, the documentation site,
// docs/reference/), and keeps it small. An install without optional packages must stay below 5 MB (test/package/tarball.test.ts).
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ensureInstalled, ROOT, runTool } from './install.mjs';

const DIST = join(ROOT, 'dist');

await ensureInstalled();
for (const folder of ['dist', 'docs/reference']) rmSync(join(ROOT, folder), { recursive: true, force: true });
run('tsc', ['-p', 'tsconfig.build.json', '--sourceMap', 'false']);
removeUnreachableTypes();
run('node', ['scripts/bundle.mjs']);
run('node', ['scripts/build-console.mjs']);
run('node', ['scripts/docs-site.mjs', '--pack']);
run('node', ['--conditions=our-src', 'scripts/docs.ts']);

/** Standard output belongs to `npm pack`, which prints the file name there (or JSON with --json). */
function run(name, args) {
  const { status } = runTool(name, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** Removes the declarations that no entry of `exports` leads to, for example those of the command line. */
function removeUnreachableTypes() {
  const { exports, imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const rooms = Object.fromEntries(
    Object.entries(imports).map(([name, target]) => [name, join(ROOT, target.default).replace(/[.]js$/, '.d.ts')]),
  );
  const reached = new Set();
  const waiting = Object.values(exports).flatMap((entry) => (entry.types === undefined ? [] : [join(ROOT, entry.types)]));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"]([.#][^'"]+)['"]/g)) {
      waiting.push(rooms[name] ?? resolve(dirname(file), name.replace(/[.](?:js|ts)$/, '.d.ts')));
    }
  }
  for (const file of filesIn('.d.ts')) if (!reached.has(file)) rmSync(file);
}

function filesIn(ending) {
  if (!existsSync(DIST)) return [];
  return readdirSync(DIST, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(DIST, name));
}
