import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** `parley-a2a/server` runs in a Worker, so no module that it imports may import `node:` modules or packages. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { imports } = JSON.parse(readFileSync(resolve(ROOT, 'package.json'), 'utf8')) as { imports: Record<string, { 'our-src': string }> };

function reached(file: string, seen: Map<string, readonly string[]>): Map<string, readonly string[]> {
  if (seen.has(file)) return seen;
  const text = readFileSync(file, 'utf8');
  const named = [...text.matchAll(/^(?:import|export)(?! type)(?: [^'"]*? from)? '([^']+)';$/gm)].map((match) => match[1] ?? '');
  seen.set(file, named);
  for (const name of named) {
    if (name.startsWith('.')) reached(resolve(dirname(file), name), seen);
    else if (name.startsWith('#')) reached(resolve(ROOT, imports[name]?.['our-src'] ?? name), seen);
  }
  return seen;
}

it('the server, without its adapters, uses web standards only', () => {
  const seen = reached(resolve(ROOT, 'src/server/index.ts'), new Map());
  expect(seen.size).toBeGreaterThan(100);
  const foreign = [...seen].flatMap(([file, named]) => named.filter((name) => !/^[.#]/.test(name)).map((name) => `${file}: ${name}`));
  expect(foreign).toEqual([]);
});
