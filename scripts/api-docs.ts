import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly exports: Readonly<Record<string, { readonly types: string } | string>>;
  readonly imports: Readonly<Record<string, { readonly default: string }>>;
};

interface Exported {
  readonly name: string;
  /** The name in its source: a declaration file or a package. */
  readonly local: string;
  readonly from: string;
}

interface Declaration {
  readonly comment: string;
  readonly kind: string;
  readonly name: string;
  /** The text after the name, to the end of the declaration. */
  readonly rest: string;
}

/** `export { type A, b as c } from './x.ts'`, over one line or many. */
const RE_PASSED_ON = /^export (?:type )?\{([^}]*)\} from ['"]([^'"]+)['"];/gm;
const RE_ALL_PASSED_ON = /^export \* from ['"]([^'"]+)['"];/gm;
const RE_DECLARED = /^export (?:declare )?(?:abstract )?(function|const|class|interface|type) (\w+)/;

/** The exports of every entry point of the package, read from the built declarations. */
export function apiDocs(): string {
  const shown = new Set<string>();
  const sections: string[] = [];
  for (const [path, entry] of Object.entries(PACKAGE.exports)) {
    // The client has two entry points. The page lists it once.
    if (typeof entry === 'string' || shown.has(entry.types)) continue;
    shown.add(entry.types);
    const file = join(ROOT, entry.types);
    if (!existsSync(file)) throw new Error(`${entry.types} is not there; run: npm run build`);
    const rows = exportsOf(file).map(rowOf);
    sections.push(
      [
        `## ${join(PACKAGE.name, path)}`,
        '',
        '| export | what it is |',
        '|---|---|',
        ...rows.toSorted((left, right) => left.localeCompare(right, 'en')),
      ].join('\n'),
    );
  }
  return sections.join('\n\n');
}

function exportsOf(file: string): readonly Exported[] {
  const all = Array.from(readFileSync(file, 'utf8').matchAll(RE_ALL_PASSED_ON), ([, from = '']) => sourceOf(file, from));
  return [...declarationsIn(file).map(({ name }) => ({ name, local: name, from: file })), ...namedIn(file), ...all.flatMap(exportsOf)];
}

function namedIn(file: string): readonly Exported[] {
  return Array.from(readFileSync(file, 'utf8').matchAll(RE_PASSED_ON)).flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((each) => each.trim().replace(/^type /, ''))
      .filter((each) => each !== '')
      .map((each) => {
        const [local = each, name = local] = each.split(' as ');
        return { name, local, from: sourceOf(file, from) };
      }),
  );
}

/** The declaration file of an import: a relative file or one of our rooms. A package stays as it is. */
function sourceOf(file: string, from: string): string {
  const path = from.startsWith('#') ? join(ROOT, PACKAGE.imports[from]?.default ?? '') : join(dirname(file), from);
  return from.startsWith('#') || from.startsWith('.') ? path.replace(/\.(?:ts|js)$/, '.d.ts') : from;
}

/** The compiler puts every declaration, and every comment on one, at the start of a line. */
function declarationsIn(file: string): readonly Declaration[] {
  const found: Declaration[] = [];
  let comment = '';
  for (const block of readFileSync(file, 'utf8').split(/\n(?=export |declare |type |interface |import |\/\*\*)/)) {
    const [head, kind = '', name = ''] = RE_DECLARED.exec(block) ?? [];
    if (head !== undefined) found.push({ comment, kind, name, rest: block.slice(head.length) });
    comment = /^\/\*\*[\s\S]*\*\/$/.test(block) ? block : '';
  }
  return found;
}

function rowOf({ name, local, from }: Exported): string {
  if (!from.endsWith('.d.ts')) return `| \`${name}\` | as in \`${from}\` |`;
  const declared = declarationsIn(from).find((declaration) => declaration.name === local);
  if (declared !== undefined) return `| \`${name}\` | ${whatIs(declared).replaceAll('|', '\\|')} |`;
  const passedOn = exportsOf(from).find((exported) => exported.name === local);
  if (passedOn === undefined) throw new Error(`${from} does not export ${local}`);
  return rowOf({ ...passedOn, name });
}

function whatIs({ comment, kind, rest }: Declaration): string {
  const form = kind === 'function' ? `\`${flat(rest).replace(/;$/, '')}\`` : kind;
  const said = flat(comment.replace(/^\/\*\*|\*\/$|```[\s\S]*?```/g, '').replace(/^\s*\*/gm, ''));
  return said === '' ? form : `${form}: ${said}`;
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
