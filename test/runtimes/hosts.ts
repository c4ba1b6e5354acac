import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contract, run } from '../support/hosts.ts';
import { suiteNeeding } from '../support/needs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Serves the same handler from Bun and Deno. `installed` is the folder of `runtimesFolder()`. */
export function describeHosts(installed: string | undefined, scratch: string): void {
  const bin = (name: string): string => join(installed ?? '', 'node_modules/.bin', name);
  suiteNeeding('bun (npm)', installed !== undefined, 'examples/hosts/bun.ts', () => {
    contract(() => run(bin('bun'), ['--conditions=our-src', 'examples/hosts/bun.ts']));
  });

  suiteNeeding('deno (npm)', installed !== undefined, 'examples/hosts/deno.ts', () => {
    contract(() =>
      run(bin('deno'), ['run', '--allow-net', '--allow-env', '--no-lock', `--import-map=${importMap(scratch)}`, 'examples/hosts/deno.ts']),
    );
  });
}

/** In a checkout package.json maps imports such as `#server` with a custom condition. This is the same as an import map, for runtimes without conditions. */
function importMap(scratch: string): string {
  const { imports, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'imports' | 'exports',
    Record<string, { 'our-src'?: string }>
  >;
  const at = (target: { 'our-src'?: string } | string): string | undefined => (typeof target === 'object' ? target['our-src'] : undefined);
  const rows = [
    ...Object.entries(imports),
    ...Object.entries(exports).map(([name, target]) => [name.replace('.', 'parley-a2a'), target] as const),
  ].flatMap(([name, target]) => (at(target) === undefined ? [] : [[name, `file://${join(ROOT, at(target) ?? '')}`] as const]));
  const file = join(scratch, 'import-map.json');
  writeFileSync(file, JSON.stringify({ imports: Object.fromEntries(rows) }));
  return file;
}
