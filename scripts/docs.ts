import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { CLIENT_ERRORS } from '#client';
import { ENGINE_LIMITS } from '#engine';
import type { Dialect, ErrorKind, Loss, Operation } from '#protocol';
import { A2AError, DIALECTS, dialectLosses, ERRORS, GRPC_STATUS, OPERATION_NAMES } from '#protocol';
import type { Setting } from '#server';
import { METRIC_LIST, ROUTES, SETTINGS } from '#server';
import type { Command } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { OUR_CLIENT, THEIR_CLIENT } from '../test/interop/matrix.ts';
import { apiDocs } from './api-docs.ts';
import { withFigures } from './figures.ts';

/**
 * Writes the generated parts of docs/, between `<!-- generated: NAME -->` and `<!-- /generated -->`, and the figures of the README. With
 * --check it only lists the stale pages.
 */
const SECTIONS: Readonly<Record<string, (family?: string) => string>> = {
  dialects,
  methods,
  losses,
  traits,
  errors,
  limits,
  config,
  routes,
  metrics,
  clientErrors,
  interop,
  commands: () => COMMAND_HELP,
  api: apiDocs,
};
/** Loaded first, so that the rest is synchronous. */
const COMMAND_HELP = await commandHelp();
const FOLDER = new URL('../docs/', import.meta.url);
const check = process.argv.includes('--check');
let stale = 0;

for (const name of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))) {
  if (name.startsWith('reference/')) continue;
  const page = readFileSync(new URL(name, FOLDER), 'utf8');
  keep(`docs/${name}`, page, filled(`docs/${name}`, page));
}
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
keep('README.md', readme, withFigures(readme, readFileSync(new URL('benchmarks.md', FOLDER), 'utf8')));
if (!check) writeReference();
process.exitCode = check && stale > 0 ? 1 : 0;

function filled(name: string, page: string): string {
  return page.replace(/<!-- generated: (\w+)(?: (\w+))? -->\n[\s\S]*?<!-- \/generated -->/g, (_, section: string, family?: string) => {
    const make = SECTIONS[section];
    if (make === undefined) throw new Error(`${name} asks for an unknown section ${section}`);
    return `<!-- generated: ${family === undefined ? section : `${section} ${family}`} -->\n${make(family)}\n<!-- /generated -->`;
  });
}

/** docs/reference/ is built for the package and ignored by git. Its pages without the generated parts are in scripts/reference/. */
function writeReference(): void {
  if (!existsSync(new URL('../dist/', import.meta.url))) {
    console.error('docs/reference/ was not written: it is made from dist/. To write it, run: npm run build && npm run docs');
    return;
  }
  const templates = new URL('reference/', import.meta.url);
  mkdirSync(new URL('reference/', FOLDER), { recursive: true });
  for (const name of readdirSync(templates)) {
    writeFileSync(new URL(`reference/${name}`, FOLDER), filled(name, readFileSync(new URL(name, templates), 'utf8')));
  }
}

function keep(name: string, page: string, fresh: string): void {
  if (fresh === page) return;
  stale += 1;
  if (check) console.error(`${name} is stale; run: npm run docs`);
  else writeFileSync(new URL(`../${name}`, import.meta.url), fresh);
}

/** The help text of each command and its subcommands. */
async function commandHelp(): Promise<string> {
  const sections: string[] = [];
  const show = ({ help, below = [] }: Command, name: string): void => {
    sections.push(`## parley ${name}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\``);
    for (const one of below) show(one, `${name} ${one.name}`);
  };
  for (const entry of COMMANDS) show(await entry.load(), entry.name);
  return sections.join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

function dialects(): string {
  return table(
    ['id', 'what it is', 'operations'],
    DIALECTS.map((dialect) => [`[\`${dialect.id}\`](dialects/${family(dialect)}.md)`, dialect.title, operationsOf(dialect).join(', ')]),
  );
}

function operationsOf(dialect: Dialect): readonly string[] {
  const named = Object.keys(dialect.methods);
  return named.length > 0 ? named : [...new Set(dialect.rest?.routes.map((route) => route.operation))];
}

function methods(only?: string): string {
  if (only !== undefined) return methodsOf(only);
  const shown = DIALECTS.filter((dialect) => !dialect.id.includes('.') || dialect.id === 'sam.documented');
  return table(
    ['operation', ...shown.map((dialect) => `\`${dialect.id}\``)],
    OPERATION_NAMES.map((operation: Operation) => [operation, ...shown.map((dialect) => code(dialect.methods[operation]))]),
  );
}

/** One family's methods, and its HTTP paths where it has any. */
function methodsOf(only: string): string {
  const members = membersOf(only);
  const named = members.filter((dialect, at) => at === 0 || Object.values(dialect.methods).join() !== '');
  const shown = named.filter(
    (dialect, at) => at === 0 || Object.values(dialect.methods)[0] !== Object.values(members[0]?.methods ?? {})[0],
  );
  const rest = members.find((dialect) => dialect.rest !== undefined)?.rest;
  const route = (operation: Operation): string => {
    const found = rest?.routes.find((each) => each.operation === operation);
    return found === undefined ? '' : `\`${found.verb} ${found.path}\``;
  };
  const operations = OPERATION_NAMES.filter((operation) =>
    members.some((dialect) => dialect.methods[operation] !== undefined || route(operation)),
  );
  return table(
    ['operation', ...shown.map((dialect) => `method (\`${dialect.id}\`)`), ...(rest === undefined ? [] : ['HTTP+JSON'])],
    operations.map((operation) => [
      operation,
      ...shown.map((dialect) => code(dialect.methods[operation])),
      ...(rest === undefined ? [] : [route(operation)]),
    ]),
  );
}

function losses(only = ''): string {
  return membersOf(only)
    .map((dialect) => `### \`${dialect.id}\`\n\n${lossesOf(dialect)}`)
    .join('\n\n');
}

function membersOf(only: string): readonly Dialect[] {
  const members = DIALECTS.filter((dialect) => family(dialect) === only);
  if (members.length === 0) throw new Error(`there is no dialect family "${only}"`);
  return members;
}

/** A variant's losses, as the difference from those of its family's first dialect. */
function lossesOf(dialect: Dialect): string {
  const first = DIALECTS.find((other) => family(other) === family(dialect));
  if (first === undefined || first === dialect) return dialectLosses(dialect).length === 0 ? 'Nothing.' : lossTable(dialectLosses(dialect));
  const more = dialectLosses(dialect).filter((loss) => !dialectLosses(first).some((known) => sameLoss(known, loss)));
  const fewer = dialectLosses(first).filter((loss) => !dialectLosses(dialect).some((known) => sameLoss(known, loss)));
  const but = fewer.length === 0 ? '' : `, but not ${fewer.map((loss) => `\`${loss.field}\``).join(', ')}`;
  return more.length === 0 ? `As \`${first.id}\`${but}.` : `As \`${first.id}\`${but}, and:\n\n${lossTable(more)}`;
}

function family(dialect: Dialect): string {
  return dialect.id.split('.')[0] ?? dialect.id;
}

function sameLoss(left: Loss, right: Loss): boolean {
  return (
    left.field === right.field &&
    left.reason === right.reason &&
    left.absent === right.absent &&
    String(left.values) === String(right.values)
  );
}

function lossTable(losses: readonly Loss[]): string {
  return table(
    ['member', 'reason', 'source'],
    losses.map((loss) => [`\`${loss.field}\`${conditionOf(loss)}`, loss.reason, loss.clause]),
  );
}

function conditionOf(loss: Loss): string {
  const absent = loss.absent ? ' absent' : '';
  const values = loss.values === undefined ? '' : ` = ${loss.values.map((value) => JSON.stringify(value)).join(', ')}`;
  const beside = loss.beside === undefined ? '' : ` beside ${loss.beside.map((member) => `\`${member}\``).join(' or ')}`;
  return `${absent}${values}${beside}`;
}

function traits(): string {
  const names = ['callerNamesTask', 'resumesByContext', 'cancelFinished', 'directMessage', 'historyDefault', 'subscribeFinished'] as const;
  const wireNames = ['timeoutMs', 'bodyBytesMax', 'nullForUnknownTask'] as const;
  const shown = DIALECTS.filter((dialect) => {
    const first = DIALECTS.find((other) => family(other) === family(dialect));
    if (first === undefined || first === dialect) return true;
    return (
      names.some((name) => first.traits[name] !== dialect.traits[name]) || wireNames.some((name) => first.wire[name] !== dialect.wire[name])
    );
  });
  return table(
    ['trait', ...shown.map((dialect) => `\`${dialect.id}\``)],
    [
      ...names.map((name) => [name, ...shown.map((dialect) => String(dialect.traits[name]))]),
      ...wireNames.map((name) => [name, ...shown.map((dialect) => String(dialect.wire[name] ?? false))]),
    ],
  );
}

function errors(): string {
  const shown = DIALECTS.filter((dialect) => !dialect.id.includes('.'));
  const kinds = Object.keys(ERRORS) as ErrorKind[];
  return table(
    ['kind', 'HTTP', 'gRPC', 'reason', ...shown.map((dialect) => `\`${dialect.id}\``)],
    kinds.map((kind) => {
      const row = ERRORS[kind];
      const codes = shown.map((dialect) => String(dialect.error.write(new A2AError(kind)).code));
      return [kind, String(row.http), `${GRPC_STATUS[row.grpc]} (${row.grpc})`, row.reason, ...codes];
    }),
  );
}

/** The doc text of each limit in the source. */
function limits(): string {
  return table(
    ['limit', 'default', 'what it does'],
    Object.entries(ENGINE_LIMITS).map(([name, limit]) => [`\`${name}\``, limit.default.toLocaleString('en-US'), limit.doc]),
  );
}

function config(): string {
  const groups = [...new Set(SETTINGS.map(({ group }) => group))];
  return groups.map((group) => `## ${group}\n\n${settingRows(SETTINGS.filter((setting) => setting.group === group))}`).join('\n\n');
}

function settingRows(settings: readonly Setting[]): string {
  const shown = (value: Setting['default']): string => (value === undefined || JSON.stringify(value) === '{}' ? '' : JSON.stringify(value));
  return table(
    ['key', 'default', 'environment', 'flag', 'applied by', 'what it does'],
    settings.map(({ name, default: value, env, flag, appliedBy, doc }) => [
      `\`${name}\``,
      code(shown(value) || undefined),
      env.map((variable) => `\`${variable}\``).join(', '),
      code(flag === undefined ? undefined : `--${flag}`),
      appliedBy,
      doc,
    ]),
  );
}

function routes(): string {
  return table(
    ['path', 'methods', 'what', 'for'],
    ROUTES.map(({ name, paths, under, methods, access, at }) => [
      (paths ?? [`${under}/…`]).map((path) => `\`${path}\``).join(', '),
      methods.join(', '),
      at === 'agent' ? `${name}, also below \`/agents/{name}\`` : name,
      access === 'public' ? 'everybody' : access === 'admin' ? 'callers with the scope `admin`' : 'callers',
    ]),
  );
}

function metrics(): string {
  return table(
    ['metric', 'type', 'labels', 'what it says'],
    METRIC_LIST.map(({ name, type, labels = [], help }) => [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help]),
  );
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}

function clientErrors(): string {
  return table(
    ['kind', 'when'],
    Object.entries(CLIENT_ERRORS).map(([kind, when]) => [`\`${kind}\``, when]),
  );
}

/** The results of `test/interop`, whose tests are generated from the same data. */
function interop(): string {
  const rows = (side: string, faces: typeof OUR_CLIENT): readonly (readonly string[])[] =>
    faces.map(({ sdk, version, binding, proven, except }) => [
      side,
      `@a2a-js/sdk ${sdk}`,
      `${version} ${binding}`,
      proven.join(', '),
      except ?? '',
    ]);
  return table(
    ['who calls', 'the other side', 'over', 'proven', 'not, and why'],
    [...rows('our client, their server', OUR_CLIENT), ...rows('their client, our server', THEIR_CLIENT)],
  );
}
