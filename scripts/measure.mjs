// `npm run measure`: the figures of docs/architecture.md about the code in src/, without its tests. Prints a table; fails on nothing
// (scripts/sizes.mjs has the limits).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertions, sourceFiles } from './casts.mjs';
import { ROOT, requireInstalled, runTool } from './install.mjs';
import { longFunctions } from './sizes.mjs';

requireInstalled();
const files = sourceFiles();
const sources = files.map((name) => ({ name, lines: readFileSync(join(ROOT, name), 'utf8').trimEnd().split('\n') }));
const all = sources.flatMap(({ lines }) => lines);
const comments = all.filter(isComment).length;
const code = all.filter((line) => line.trim() !== '' && !isComment(line));
const lengths = sources.map(({ lines }) => lines.length).sort((left, right) => left - right);
const casts = (await Promise.all(sources.map(({ name, lines }) => assertions(name, lines.join('\n'))))).flat().length;

const rows = [
  ['files', files.length],
  ['lines of a file: median, 90th percentile, maximum', [quantile(0.5), quantile(0.9), lengths.at(-1)].join(', ')],
  ['lines of code', code.length],
  ['comment lines for each line of code', (comments / code.length).toFixed(2)],
  ['functions over 70 lines', sources.flatMap(({ lines }) => longFunctions(lines)).length],
  ['casts in 1,000 lines of code', ((casts / code.length) * 1000).toFixed(1)],
  ['uses of any', code.filter((line) => /(?::|<|\bas) any\b/.test(line)).length],
  ['imports that are part of a cycle', circularImports()],
  ['exported type names; of these used twice', typeNames()],
  ...doors().map(({ room, names }) => [`names exported by ${room}, over all its subpaths`, names]),
];
for (const [what, value] of rows) console.log(`| ${what} | ${value} |`);

function isComment(line) {
  return /^\s*(?:\/\/|\/\*|\*)/.test(line);
}

function quantile(part) {
  return lengths[Math.min(lengths.length - 1, Math.floor(lengths.length * part))];
}

/** Imports that are part of a cycle. */
function circularImports() {
  const cruise = runTool('depcruise', ['src', '--config', '.dependency-cruiser.cjs', '--output-type', 'json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
  const { modules } = JSON.parse(String(cruise.stdout));
  return modules.flatMap(({ dependencies }) => dependencies).filter(({ circular }) => circular).length;
}

function typeNames() {
  const places = new Map();
  for (const { lines } of sources)
    for (const line of lines) {
      const name = /^export (?:declare |abstract )*(?:interface|type|class|enum) (\w+)/.exec(line)?.[1];
      if (name !== undefined) places.set(name, (places.get(name) ?? 0) + 1);
    }
  return `${places.size}; ${[...places.values()].filter((count) => count > 1).length}`;
}

/** Each room with the number of names that users of the package can import from it. */
function doors() {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const byRoom = new Map();
  for (const entry of Object.values(exports)) {
    const path = entry['our-src'];
    const room = /^[.]\/src\/(\w+)\//.exec(path ?? '')?.[1];
    if (room !== undefined) byRoom.set(room, new Set([...(byRoom.get(room) ?? []), ...exportedNames(join(ROOT, path))]));
  }
  return [...byRoom].map(([room, names]) => ({ room, names: names.size }));
}

function exportedNames(path) {
  const text = readFileSync(path, 'utf8');
  const declared = [
    ...text.matchAll(/^export (?:declare |abstract |async )*(?:interface|type|class|enum|function\*?|const|let) (\w+)/gm),
  ].map(([, name]) => name);
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => names.split(','));
  return [...declared, ...listed.map((name) => name.trim().split(/\s+/).at(-1)).filter((name) => name !== '' && name !== undefined)];
}
