// `npm run docs:site`: makes docs/ into a static site in dist/docs, which any web server can serve under any path. `--pack` writes dist/docs.br
// in place of it: the same files in one compressed file, from which a node serves `/docs/` (src/server/adapters/docs.ts).
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { ensureInstalled, ROOT } from './install.mjs';

const { values } = parseArgs({ options: { pack: { type: 'boolean' }, to: { type: 'string' } } });
await ensureInstalled();
const { buildSite } = await import('./site/build.mjs');
const files = buildSite();

if (values.pack) {
  const place = resolve(values.to ?? join(ROOT, 'dist/docs.br'));
  const text = Buffer.from(JSON.stringify(Object.fromEntries(files)));
  const params = { [constants.BROTLI_PARAM_LGWIN]: 22, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  mkdirSync(dirname(place), { recursive: true });
  // A running server finds the old file or the new one.
  writeFileSync(`${place}.${process.pid}`, brotliCompressSync(text, { params }));
  renameSync(`${place}.${process.pid}`, place);
} else {
  const folder = resolve(values.to ?? join(ROOT, 'dist/docs'));
  rmSync(folder, { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  console.error(`${files.size} files in ${folder}`);
}
