import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Dialect, ErrorKind, Operation } from '#protocol';
import { A2AError, DIALECTS, ERRORS, GRPC_STATUS, OPERATIONS } from '#protocol';

/**
 * Fills the generated parts of docs/: what stands between `<!-- generated: NAME -->` and `<!-- /generated -->`. With --check
 * it only says which pages are stale.
 */
const SECTIONS: Readonly<Record<string, () => string>> = { dialects, methods, losses, traits, errors };
const FOLDER = new URL('../docs/', import.meta.url);
const check = process.argv.includes('--check');
let stale = 0;

for (const name of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))) {
  const file = new URL(name, FOLDER);
  const page = readFileSync(file, 'utf8');
  const fresh = page.replace(/<!-- generated: (\w+) -->\n[\s\S]*?<!-- \/generated -->/g, (_, section: string) => {
    const make = SECTIONS[section];
    if (make === undefined) throw new Error(`docs/${name} asks for an unknown section ${section}`);
    return `<!-- generated: ${section} -->\n${make()}\n<!-- /generated -->`;
  });
  if (fresh === page) continue;
  stale += 1;
  if (check) console.error(`docs/${name} is stale; run: npm run docs`);
  else writeFileSync(file, fresh);
}
process.exitCode = check && stale > 0 ? 1 : 0;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

function dialects(): string {
  return table(
    ['id', 'what it is', 'operations'],
    DIALECTS.map((dialect) => [`\`${dialect.id}\``, dialect.title, Object.keys(dialect.methods).join(', ')]),
  );
}

function methods(): string {
  const shown = DIALECTS.filter((dialect) => !dialect.id.includes('.') || dialect.id === 'sam.documented');
  return table(
    ['operation', ...shown.map((dialect) => `\`${dialect.id}\``)],
    OPERATIONS.map((operation: Operation) => [operation, ...shown.map((dialect) => code(dialect.methods[operation]))]),
  );
}

function losses(): string {
  return DIALECTS.map((dialect) => `### \`${dialect.id}\`\n\n${lossTable(dialect)}`).join('\n\n');
}

function lossTable(dialect: Dialect): string {
  if (dialect.losses.length === 0) return 'Nothing.';
  return table(
    ['what', 'why', 'seen in'],
    dialect.losses.map((loss) => {
      const values = loss.values === undefined ? '' : ` = ${loss.values.map((value) => JSON.stringify(value)).join(', ')}`;
      return [`\`${loss.field}\`${values}`, loss.reason, loss.clause];
    }),
  );
}

function traits(): string {
  const names = [
    'blockingDefault',
    'closesOnInputRequired',
    'callerNamesTask',
    'resumesByContext',
    'unknownTask',
    'cancelFinished',
    'directMessage',
    'historyDefault',
    'subscribeFinished',
    'timeoutMs',
    'bodyBytesMax',
  ] as const;
  return table(
    ['trait', ...DIALECTS.map((dialect) => `\`${dialect.id}\``)],
    names.map((name) => [name, ...DIALECTS.map((dialect) => String(dialect.traits[name]))]),
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

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}
