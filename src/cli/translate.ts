import { readFile } from 'node:fs/promises';
import { SseParser } from '#bindings';
import type { Dialect, DocumentKind, Json, Operation, ReadEnv, Translation } from '#protocol';
import {
  createRegistry,
  DEFAULT_READ_LIMITS,
  DIALECTS,
  isA2AError,
  OPERATION_NAMES,
  randomIds,
  translate,
  translateEvents,
} from '#protocol';
import type { Command } from './command.ts';
import { CliError, readStdin } from './command.ts';
import { readArgs } from './flags/own.ts';

const registry = createRegistry(DIALECTS);
const env: ReadEnv = { ids: randomIds, limits: DEFAULT_READ_LIMITS };
const KINDS: readonly DocumentKind[] = ['request', 'response', 'event', 'card'];

export const translateCommand: Command = {
  name: 'translate',
  help: `parley translate: one A2A document from any dialect to any other.

Usage: parley translate --to DIALECT [OPTIONS] [FILE]

Reads a JSON document (or, for events, JSON lines or a recorded event stream) from FILE or standard input, prints the translation
on standard output, and says on standard error which dialect it found and each thing that the target can't express.

Options:
  --to DIALECT       The dialect to write, or "all" for one after the other. Required.
  --from DIALECT     The dialect to read; "auto" (the default) finds out.
  --kind KIND        ${KINDS.join(', ')}; found out if left out.
  --path PATH        The path that a request was posted to: it tells some dialects apart.
  --operation NAME   What a response answers (send, get, list, …); found out if left out.
  --json             Print one JSON object: from, to, kind, operation, output, lost.
  --list             List the dialects.

Example:
  echo '{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}}' \\
    | parley translate --to v10

Exit codes: 0 translated (also if something was lost), 1 not translatable, 2 wrong call.
`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const flags = parse(args);
  if (flags.list === true) {
    for (const dialect of DIALECTS) process.stdout.write(`${dialect.id.padEnd(16)}${dialect.title}\n`);
    return 0;
  }
  const targets = targetsOf(flags.to);
  const from = flags.from === undefined || flags.from === 'auto' ? undefined : dialectOf(flags.from, '--from');
  const kind = flags.kind === undefined ? undefined : oneOf(KINDS, flags.kind, '--kind');
  const operation = flags.operation === undefined ? undefined : oneOf(OPERATION_NAMES, flags.operation, '--operation');
  const source = flags.file ?? 'standard input';
  const documents = documentsOf(await textOf(flags.file), source);
  if (documents.length === 0)
    throw new CliError(`there is nothing on ${source}`, { hint: 'try: parley translate --to v10 in.json', exit: 2 });
  for (const to of targets) {
    const options = { registry, env, to, ...given({ from, kind, operation, path: flags.path }) };
    report(attempt(documents, options, targets.length > 1), to, flags.json === true);
  }
  return 0;
}

async function textOf(file: string | undefined): Promise<string> {
  if (file === undefined) return process.stdin.isTTY ? '' : await readStdin();
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    throw new CliError(`can't read ${file}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { exit: 2 });
  }
}

/** Several documents are a recorded stream. */
function attempt(documents: readonly Json[], options: Parameters<typeof translate>[1], lenient: boolean): Translation | string {
  try {
    return documents.length === 1 ? translate(documents[0], options) : translateEvents(documents, options);
  } catch (thrown) {
    if (!isA2AError(thrown)) throw thrown;
    if (lenient && thrown.kind === 'UNSUPPORTED_OPERATION') return thrown.message;
    const isUnknown = thrown.kind === 'METHOD_NOT_FOUND' || thrown.kind === 'INVALID_REQUEST';
    const hint = isUnknown
      ? 'say what it is with --kind, or whose it is with --from (parley translate --list shows the dialects)'
      : undefined;
    throw new CliError(thrown.message, hint === undefined ? {} : { hint });
  }
}

function report(translation: Translation | string, to: Dialect, asJson: boolean): void {
  if (typeof translation === 'string') {
    process.stderr.write(`${to.id}: ${translation}\n`);
    return;
  }
  const { from, kind, operation, output, lost } = translation;
  if (asJson) {
    const rows = lost.map((item) => ({
      path: item.path,
      field: item.field,
      reason: item.loss?.reason ?? 'not listed',
      clause: item.loss?.clause ?? '',
    }));
    const only = output.length === 1 ? output[0] : output;
    process.stdout.write(`${JSON.stringify({ from: from.id, to: to.id, kind, operation, output: only, lost: rows })}\n`);
    return;
  }
  process.stderr.write(`${from.title} (${from.id}) ${kind}${operation === undefined ? '' : ` ${operation}`} -> ${to.title} (${to.id})\n`);
  for (const document of output)
    process.stdout.write(
      `${kind !== 'event' ? JSON.stringify(document, null, 2) : typeof document === 'string' ? document : JSON.stringify(document)}\n`,
    );
  for (const item of lost)
    process.stderr.write(`lost: ${item.path} (${item.field}): ${item.loss?.reason ?? 'not listed'} [${item.loss?.clause ?? ''}]\n`);
}

/** One JSON document; or, where that fails, a recorded event stream or JSON lines. */
function documentsOf(text: string, source: string): readonly Json[] {
  const whole = parsed(text);
  if (whole !== undefined) return [whole];
  const payloads = /^(data|event|id|retry)?:/m.test(text) ? eventsOf(text) : text.split(/\r?\n/);
  return payloads
    .filter((payload) => payload.trim() !== '' && payload !== '[DONE]')
    .map((payload, at) => {
      const document = parsed(payload);
      if (document === undefined) throw new CliError(`${source} is not JSON (document ${at + 1}: ${payload.slice(0, 60)})`);
      return document;
    });
}

function eventsOf(text: string): readonly string[] {
  const parser = new SseParser(text.length + 1);
  return parser.push(new TextEncoder().encode(`${text}\n\n`)).map((event) => event.data);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

interface Flags {
  readonly to?: string;
  readonly from?: string;
  readonly kind?: string;
  readonly path?: string;
  readonly operation?: string;
  readonly json?: boolean;
  readonly list?: boolean;
  readonly file?: string;
}

function parse(args: readonly string[]): Flags {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = { to: text, from: text, kind: text, path: text, operation: text, json: flag, list: flag };
  const { values, positionals } = readArgs('translate', args, options);
  const [file, more] = positionals;
  if (more !== undefined) throw new CliError(`there is no place for ${more}`, { hint: 'one document at a time', exit: 2 });
  return file === undefined || file === '-' ? values : { ...values, file };
}

function targetsOf(to: string | undefined): readonly Dialect[] {
  if (to === undefined)
    throw new CliError('--to is missing: which dialect should it become?', { hint: 'try: parley translate --to v10 in.json', exit: 2 });
  return to === 'all' ? DIALECTS.filter((dialect) => !dialect.id.includes('.')) : [dialectOf(to, '--to')];
}

function dialectOf(name: string, flag: string): Dialect {
  const dialect = registry.byId(name);
  if (dialect !== undefined) return dialect;
  throw new CliError(`${flag}: there is no dialect ${name}`, {
    meant: { word: name, known: DIALECTS.map((known) => known.id) },
    hint: `dialects: ${DIALECTS.map((known) => known.id).join(', ')}`,
    exit: 2,
  });
}

function oneOf<T extends Operation | DocumentKind>(known: readonly T[], name: string, flag: string): T {
  const found = known.find((candidate) => candidate === name);
  if (found !== undefined) return found;
  throw new CliError(`${flag}: ${name} is not one of ${known.join(', ')}`, { exit: 2 });
}

function given<T extends object>(members: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
