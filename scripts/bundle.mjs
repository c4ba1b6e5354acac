// Joins the compiled files of dist/ into chunks, so that a command loads some dozen files and not some hundred. All entries of the package and
// the command line are built together and share their chunks: each class exists once in a process, whichever entries it imports.
// Names stay, so a stack trace still says which function and where.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ROOT } from './install.mjs';
import { joinChunks } from './join-chunks.mjs';

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

/** Commands that load only the code that they need. Others may load code of one of these. */
const STARTS = ['serveCommand', 'sendCommand', 'configCommand', 'trustCommand', 'translateCommand'];

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

const { build } = await import('esbuild');
rmSync(CHUNKS, { recursive: true, force: true });
const { outputFiles, metafile } = await build({
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
  plugins: [ownAddress],
  metafile: true,
});
for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
  if (/[.]js(?:[.]map)?$/.test(name) && !name.startsWith('console')) rmSync(join(DIST, name));
}
mkdirSync(CHUNKS, { recursive: true });
const chunks = new Map(outputFiles.map(({ path, text }) => [basename(path), chunkOf(path, withoutBareImports(text))]));
const isStart = (name) => STARTS.some((command) => chunks.get(name).exports.includes(command));
const entryChunks = [...entries.map((path) => `${nameOf(path)}.js`), ...chunks.get('cli-main.js').late.filter(isStart)];
for (const [name, text] of await joinChunks(chunks, entryChunks)) writeFileSync(join(CHUNKS, name), withFewImports(text));
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

/**
 * One import for each file, of the names that are used. Node's modules are not imported: an `import` reads each of their members, and some load
 * others. One of node:http loads Node's `fetch`, which takes longer than half of our own code.
 */
function withFewImports(text) {
  const imports = new Map();
  const rest = text.replaceAll(
    /(?<=^|[;}\n])import(?:\s*([\w$]+)\s+|\s*[*]\s*as\s+([\w$]+)\s+|\{([^}]*)\}\s*)from"([^"]+)";?/g,
    (statement, whole, space, names, from) => {
      if (names !== undefined) imports.set(from, [...(imports.get(from) ?? []), ...names.split(',').map((name) => name.trim())]);
      else if (!from.startsWith('node:')) return statement;
      return names === undefined ? `var ${whole ?? space}=${builtin(from)};` : '';
    },
  );
  const words = new Set(rest.match(/[\w$]+/g));
  const lines = [...imports].map(([from, names]) => {
    const used = names.filter((name) => words.has(name.split(/\s+as\s+/).at(-1)));
    if (used.length === 0) return '';
    return from.startsWith('node:')
      ? `var{${used.map((name) => name.replace(/\s+as\s+/, ':'))}}=${builtin(from)};\n`
      : `import{${used}}from"${from}";\n`;
  });
  return lines.join('') + rest;
}

function builtin(name) {
  return `process.getBuiltinModule("${name}")`;
}

/** What `joinChunks` needs to know of a chunk. */
function chunkOf(path, text) {
  const { exports, imports } = metafile.outputs[relative(process.cwd(), path)];
  const links = imports.filter(({ path: to, kind }) => kind === 'import-statement' && text.includes(`from"./${basename(to)}"`));
  const late = imports.filter(({ kind, external }) => kind === 'dynamic-import' && external !== true);
  return { text, exports, links: links.map(({ path: to }) => basename(to)), late: late.map(({ path: to }) => basename(to)) };
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
