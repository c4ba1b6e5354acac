// Fails when code names a dialect, a grammar or a binding outside its own folder or the table that lists it: everything else reads data of
// the dialect, grammar or binding, so that a new one is a folder and a line. Fails also when anything but `behave` reads a dialect's traits.
import { globSync, readFileSync } from 'node:fs';
import { GRAMMARS } from '#mesh';
import { DIALECTS, STANDARD_BINDINGS } from '#protocol';

/** The folders and tables that may use names, and why. */
const MAY_NAME: readonly (readonly [path: string, why: string])[] = [
  ['src/protocol/dialects/', 'the dialects; their cards name bindings'],
  ['src/protocol/binding-names.ts', 'the names of the specification'],
  ['src/bindings/jsonrpc/', 'a binding'],
  ['src/bindings/rest/', 'a binding'],
  ['src/bindings/grpc/', 'a binding'],
  ['src/bindings/links.ts', 'the table of bindings'],
  ['src/mesh/grammars/', 'the grammars, and the dialects that they carry'],
  ['src/server/config/table/mesh.ts', 'the values of the setting that chooses a grammar'],
];

const names = new Set<string>([...STANDARD_BINDINGS, ...DIALECTS.map(({ id }) => id), ...Object.keys(GRAMMARS)]);
/** A regular expression may hold a name among other things, in any case. After a slash it is a path. */
const inPattern = new RegExp(`(?<![\\w/])(?:${[...names].map((name) => name.replace(/[+.]/g, '\\$&')).join('|')})(?!\\w)`, 'i');

/** String literals, also in types, and regular expressions. */
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`$\\]*)`/g;
const PATTERN = /(?:[=(,:!&|?>]|return)\s*\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/[dgimsuvy]*/g;

/** A member of `traits` is read here. Bindings pass `dialect.traits` on to `behave` as a whole. */
const READS_TRAITS = /\btraits\b\??\.\w|\}\s*=\s*[\w.]*\btraits\b|\btraits: \{[^}]*\} \}/;
const TRAITS_READER = /^src\/protocol\/(behave\.ts|dialects\/)/;

/** The lines of one file that break the rule, each as `LINE: PROBLEM`. */
export function wireNameProblems(file: string, text: string): readonly string[] {
  const mayName = MAY_NAME.some(([path]) => file.startsWith(path));
  return withoutComments(text)
    .split('\n')
    .flatMap((line, at) => [
      ...(READS_TRAITS.test(line) && !TRAITS_READER.test(file) ? [`${at + 1}: reads a trait`] : []),
      ...(mayName ? [] : namesIn(line).map((name) => `${at + 1}: names ${name}`)),
    ]);
}

function namesIn(line: string): readonly string[] {
  const literals = [...line.matchAll(LITERAL)].map(([, single, double, back]) => single ?? double ?? back ?? '');
  const patterns = [...line.matchAll(PATTERN)].map(([, pattern]) => pattern ?? '');
  return [...literals.filter((text) => names.has(text)), ...patterns.filter((text) => inPattern.test(text.replaceAll('\\+', '+')))];
}

/** Comments become blank lines, so that line numbers stay. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, '')).replace(/(^|\s)\/\/.*$/gm, '');
}

if (import.meta.main) {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: `${import.meta.dirname}/..` }).filter((file) => !/[.]test[.]tsx?$/.test(file));
  const problems = files.flatMap((file) =>
    wireNameProblems(file, readFileSync(`${import.meta.dirname}/../${file}`, 'utf8')).map((problem) => `${file}:${problem}`),
  );
  for (const problem of problems) console.error(problem);
  console.log(`${names.size} names of dialects, grammars and bindings, ${problems.length} uses outside their folders`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
