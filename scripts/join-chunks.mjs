// Joins chunks to fewer files: Node takes longer to find and link a small file than to load its code. esbuild counts each dynamic import as an
// entry, so it makes one chunk for every set of commands and late parts that share a module.
import { build } from 'esbuild';

/**
 * A chunk: its text, the names that it exports, the chunks that it imports, and those that it imports when they are needed.
 * @typedef {{ text: string, exports: readonly string[], links: readonly string[], late: readonly string[] }} Chunk
 */

/** A small chunk that runs without Node is loaded with others like it: all entries need most of them. */
const SMALL_LENGTH_MAX = 8000;
/** Its small chunks are apart from others, because each byte counts in a browser. */
const BROWSER = 'browser.js';

/**
 * Returns the new text of each chunk by its name. Chunks are joined if the same of the entries load them. No entry loads more than it needs,
 * except for the small chunks.
 * @param {ReadonlyMap<string, Chunk>} chunks
 * @param {readonly string[]} entries
 */
export async function joinChunks(chunks, entries) {
  const late = new Set([...chunks.values()].flatMap((chunk) => chunk.late));
  const sets = [...entries, ...lateOnWeb(chunks, entries)].map((entry) => reached(chunks, entry));
  const small = smallOnes(chunks, entries);
  const inBrowser = reached(chunks, BROWSER);
  const groupOf = new Map();
  const keys = new Map();
  for (const name of chunks.keys()) {
    const key = small.has(name) ? `small ${inBrowser.has(name)}` : sets.map((set) => Number(set.has(name))).join('');
    if (late.has(name) || entries.includes(name) || !(small.has(name) || key.includes('1'))) continue;
    if (!keys.has(key)) keys.set(key, `joined-${keys.size}.js`);
    groupOf.set(name, keys.get(key));
  }
  return await rebuilt(chunks, groupOf);
}

/** The chunks that are loaded with an entry. */
function reached(chunks, entry) {
  const found = new Set([entry]);
  for (const name of found) for (const to of chunks.get(name).links) found.add(to); // a set may grow while it is walked
  return found;
}

/** What entries that run without Node load later. A bundler for browsers follows these imports, too. */
function lateOnWeb(chunks, entries) {
  const found = new Set(entries.filter((entry) => isWeb(chunks, entry)));
  for (const entry of found) for (const name of reached(chunks, entry)) for (const to of chunks.get(name).late) found.add(to);
  return [...found].filter((name) => !entries.includes(name));
}

function isWeb(chunks, entry) {
  return ![...reached(chunks, entry)].some((name) => /from"node:/.test(chunks.get(name).text));
}

/** The small chunks of entries that run without Node, if they and all chunks that they need are small and import nothing else. */
function smallOnes(chunks, entries) {
  const web = new Set(entries.filter((entry) => isWeb(chunks, entry)).flatMap((entry) => [...reached(chunks, entry)]));
  const isSmall = (name) => {
    const { text, late } = chunks.get(name);
    return text.length <= SMALL_LENGTH_MAX && late.length === 0 && !/\bfrom\s*"[^.]/.test(text);
  };
  return new Set([...web].filter((name) => [...reached(chunks, name)].every(isSmall)));
}

/** Writes the chunks again, with those of a group in one file. */
async function rebuilt(chunks, groupOf) {
  const groups = new Map([...groupOf.values()].map((group) => [group, [...groupOf.keys()].filter((name) => groupOf.get(name) === group)]));
  const doors = new Map([...groups.values()].flatMap((members) => doorsOf(chunks, members)));
  const join = (members) =>
    members.map((name) => `export{${doors.get(name).map(([key, joined]) => `${key} as ${joined}`)}}from"./${name}"`).join(';');
  // `export … from` would give each importer in a group its own names for the same values.
  const door = (name) => {
    const names = doors.get(name);
    return `import{${names.map(([, joined]) => joined)}}from"./${groupOf.get(name)}";export{${names.map(([key, joined]) => `${joined} as ${key}`)}}`;
  };
  const linked = {
    name: 'linked',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /./ }, ({ path, kind, importer }) => {
        if (kind === 'entry-point') return { path, namespace: 'chunk' };
        const name = path.slice('./'.length);
        if (kind === 'dynamic-import' || !groupOf.has(name)) return { path, external: true };
        const isBeside = (groupOf.get(importer) ?? importer) === groupOf.get(name);
        return { path: name, namespace: isBeside ? 'chunk' : 'door', sideEffects: false };
      });
      onLoad({ filter: /./, namespace: 'chunk' }, ({ path }) => ({ contents: chunks.get(path)?.text ?? join(groups.get(path)) }));
      onLoad({ filter: /./, namespace: 'door' }, ({ path }) => ({ contents: door(path) }));
    },
  };
  const names = [...groups.keys(), ...[...chunks.keys()].filter((name) => !groupOf.has(name))];
  const { outputFiles } = await build({
    entryPoints: names.map((name) => ({ in: name, out: name.replace(/[.]js$/, '') })),
    ...{ outdir: '/', bundle: true, write: false, format: 'esm', platform: 'neutral', target: 'es2023' },
    ...{ minifyWhitespace: true, minifySyntax: true, lineLimit: 200, logLevel: 'warning', plugins: [linked] },
  });
  return new Map(outputFiles.map(({ path, text }) => [path.slice('/'.length), text]));
}

/** For each chunk of a group, its exported names and those that they have in the group: two chunks may export the same name. */
function doorsOf(chunks, members) {
  const taken = new Map();
  const unique = (key) => {
    const count = (taken.get(key) ?? 0) + 1;
    taken.set(key, count);
    return count === 1 ? key : `${key}$${count}`;
  };
  return members.map((name) => [name, chunks.get(name).exports.map((key) => [key, unique(key)])]);
}
