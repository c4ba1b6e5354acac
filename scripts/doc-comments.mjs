// Fails when a name that the package exports has no doc comment, or when a doc comment has lost its declaration and stands before another
// doc comment. Prints how many members of exported types have a doc comment.
// `node scripts/doc-comments.mjs src/client` checks only the names that are declared below this path; `--members` lists members too.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './install.mjs';

const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const DECLARED = /^export (?:declare |abstract |async )*(interface|type|class|enum|function\*?|const|let) (\w+)/;

const only = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const listMembers = process.argv.includes('--members');
const doors = new Set(Object.values(PACKAGE.exports).flatMap((entry) => entry['our-src'] ?? []));
const places = new Map();
for (const door of doors) for (const place of exportsOf(join(ROOT, door))) places.set(`${place.file} ${place.name}`, place);

const chosen = [...places.values()].filter(
  ({ file }) => only.length === 0 || only.some((prefix) => relative(ROOT, file).startsWith(prefix)),
);
const bare = chosen.filter(({ documented }) => !documented);
const members = chosen.flatMap((place) => membersOf(place));
const bareMembers = members.filter(({ documented }) => !documented);
for (const place of [...bare, ...(listMembers ? bareMembers : [])]) console.error(`${whereIs(place)}: ${place.name} has no doc comment`);
console.log(
  `${chosen.length} public names, ${bare.length} without a doc comment; ` +
    `${members.length} members of public types, ${members.length - bareMembers.length} with one`,
);
const stray = strayComments();
for (const place of stray)
  console.error(`${whereIs(place)}: this doc comment stands before another one; move it to its declaration, or join the two`);
process.exit(bare.length === 0 && stray.length === 0 ? 0 : 1);

/** Doc comments that are followed by another doc comment. An edit between a comment and its function leaves such a pair behind. */
function strayComments() {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).filter((name) => /[.]tsx?$/.test(name));
  return sources.flatMap((name) => {
    const file = join(ROOT, 'src', name);
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(/[*][/]\n[ \t]*[/][*][*]/g)].map(({ index }) => ({ file, at: text.slice(0, index).split('\n').length - 1 }));
  });
}

/** Every name that a file exports, with the place of its declaration. Follows `export { a } from './b.ts'`. */
function exportsOf(file) {
  const text = readFileSync(file, 'utf8');
  const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)';/gm)].flatMap(([, names, from]) => {
    const source = sourceOf(file, from);
    return source === undefined ? [] : namesIn(names).flatMap((name) => exportsOf(source).filter((place) => place.name === name));
  });
  // `import * as topics from './topics.ts'; export { topics };`: all names of the namespace are public.
  const namespaces = [...text.matchAll(/^import \* as (\w+) from '([^']+)';/gm)].flatMap(([, name, from]) => {
    const source = new RegExp(`^export \\{[^}]*\\b${name}\\b[^}]*\\};`, 'm').test(text) ? sourceOf(file, from) : undefined;
    return source === undefined ? [] : exportsOf(source);
  });
  return [...declarationsIn(file, text), ...passedOn, ...namespaces];
}

/** The names before `as` in `type A, b as c`. */
function namesIn(list) {
  return list
    .replace(/\/\/.*|\/\*[\s\S]*?\*\//g, '')
    .split(',')
    .map(
      (each) =>
        each
          .trim()
          .replace(/^type /, '')
          .split(' as ')[0],
    )
    .filter((name) => name !== '');
}

function sourceOf(file, from) {
  if (from.startsWith('#')) return join(ROOT, PACKAGE.imports[from]['our-src']);
  const path = join(dirname(file), from);
  return from.startsWith('.') && existsSync(path) ? path : undefined;
}

function declarationsIn(file, text) {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const [, kind, name] = DECLARED.exec(line) ?? [];
    return name === undefined ? [] : [{ file, name, kind, at, documented: hasComment(lines, at) }];
  });
}

/** Later signatures of an overloaded function share the comment of the first. */
function hasComment(lines, at) {
  const before = lines[at - 1]?.trim() ?? '';
  const name = DECLARED.exec(lines[at])?.[2];
  if (before.endsWith('*/')) return true;
  return name !== undefined && lines.slice(0, at).some((line, above) => DECLARED.exec(line)?.[2] === name && hasComment(lines, above));
}

/** The members of an interface, of a type that is an object, and the public members of a class: the lines that are indented once. */
function membersOf({ file, name, kind, at }) {
  const lines = readFileSync(file, 'utf8').split('\n');
  if (!['interface', 'class', 'type'].includes(kind) || !/\{$/.test(lines[at])) return [];
  const end = lines.findIndex((line, below) => below > at && /^\}/.test(line));
  return lines.slice(at + 1, end).flatMap((line, offset) => {
    const member = /^ {2}(?:readonly |async |static |get |override )*([A-Za-z]\w*)\??[(:<]/.exec(line)?.[1];
    if (member === undefined || member === 'constructor' || /^ {2}private /.test(line)) return [];
    const here = at + 1 + offset;
    return [{ file, name: `${name}.${member}`, at: here, documented: lines[here - 1].trim().endsWith('*/') }];
  });
}

function whereIs({ file, at }) {
  return `${relative(ROOT, file)}:${at + 1}`;
}
