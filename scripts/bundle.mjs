// Joins the compiled files of dist/ into chunks, so that a command loads some dozen files and not some hundred. All entries of the package and
// the command line are built together and share their chunks: each class exists once in a process, whichever entries it imports.
// Names stay, so a stack trace still says which function and where.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { ROOT } from './install.mjs';

const DIST = join(ROOT, 'dist');
const CHUNKS = join(DIST, 'chunks');
/** Started by their path, not imported. */
const PROGRAMS = [
  'cli/main.js',
  'engine/adapters/sqlite/checkpoint/worker.js',
  'engine/adapters/sqlite/search/find-worker.js',
  'engine/adapters/sqlite/search/worker.js',
  'server/adapters/backup/check-worker.js',
];

const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const published = Object.values(exports).flatMap((entry) => [entry.default, entry.browser?.default].filter((path) => path !== undefined));
const entries = [...new Set([...published.map((path) => relative('dist', path)), ...PROGRAMS])];

/** A file in dist/chunks sees the address of its module before bundling, so that paths beside it still work. */
const ownAddress = {
  name: 'own-address',
  setup: (build) =>
    build.onLoad({ filter: /[.]js$/ }, ({ path }) => {
      const from = JSON.stringify(relative(CHUNKS, path).split(sep).join('/'));
      const text = readFileSync(path, 'utf8').replaceAll('import.meta.url', `new URL(${from}, import.meta.url).href`);
      return { contents: path.endsWith('internal.js') ? untied(text) : text, loader: 'js' };
    }),
};

/**
 * A room's list of names ties its files together: esbuild puts all of them where one is used. `export *` does not, and a name that is not
 * used is dropped either way.
 */
function untied(text) {
  return text.replace(/export \{[^}]*\} from/g, 'export * from');
}

/** An `import` of node:http reads each of its members, and one of them loads Node's `fetch`, which takes longer than half of our own code. */
const httpWithoutFetch = {
  name: 'http-without-fetch',
  setup: (build) => {
    build.onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: 'builtin' }));
    build.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

const { build } = await import('esbuild');
rmSync(CHUNKS, { recursive: true, force: true });
const { outputFiles } = await build({
  entryPoints: Object.fromEntries(entries.map((path) => [nameOf(path), join(DIST, path)])),
  outdir: CHUNKS,
  chunkNames: '[hash]',
  bundle: true,
  splitting: true,
  write: false,
  format: 'esm',
  platform: 'neutral',
  packages: 'external',
  target: 'es2023',
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  logLevel: 'warning',
  plugins: [ownAddress, httpWithoutFetch],
});
for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
  if (/[.]js(?:[.]map)?$/.test(name) && !name.startsWith('console')) rmSync(join(DIST, name));
}
for (const { path, text } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, withoutBareImports(text));
}
// Node looks for the package.json of every file that it loads. A small one beside the chunks takes an eighth less of a start's processor time
// than the one of the package. Bundlers read it, too: it says what the large one says.
writeFileSync(join(CHUNKS, 'package.json'), `${JSON.stringify({ type: 'module', sideEffects: false })}\n`);
for (const path of entries) writeFileSync(join(DIST, path), `export * from '${doorOf(path)}';\n`);

/**
 * esbuild imports every chunk that a chunk's files mention, used or not, in case one does something when it is loaded. None of ours does
 * (`sideEffects` in package.json), and each such line takes Node time to resolve: three of four imports at a start.
 */
function withoutBareImports(text) {
  return text.replaceAll(/(?<=^|;|\n)import"[.]\/\w+[.]js";\n?/g, '');
}

/** The name of an entry's chunk. */
function nameOf(path) {
  return path.replace(/[.]js$/, '').replaceAll('/', '-');
}

/** The address of an entry's chunk, seen from the entry. */
function doorOf(path) {
  const chunk = join(CHUNKS, `${nameOf(path)}.js`);
  if (!outputFiles.some((file) => file.path === chunk) || existsSync(join(DIST, path))) throw new Error(`dist/${path} could not be joined`);
  return `./${relative(dirname(join(DIST, path)), chunk)
    .split(sep)
    .join('/')}`;
}
