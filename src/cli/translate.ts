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
import { helpFor } from './flags/help.ts';
import { argumentsOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';

const registry = createRegistry(DIALECTS);
const env: ReadEnv = { ids: randomIds, limits: DEFAULT_READ_LIMITS };
const KINDS: readonly DocumentKind[] = ['request', 'response', 'event', 'card'];

const SPEC: CommandSpec = {
  name: 'translate',
  summary: 'translate one A2A document from any dialect to any other.',
  args: [{ name: 'FILE', optional: true }],
  usage: ['parley translate --to DIALECT [OPTIONS] [FILE]'],
  details: `Reads a JSON document (or, for events, JSON lines or a recorded event stream) from FILE or standard input. Prints the translation on standard
output. Prints the dialect that it found, and everything that the target can't express, on standard error.`,
  flags: [
    { name: 'to', kind: 'text', value: 'DIALECT', doc: 'The dialect to write, or "all" for one after the other. Required.' },
    { name: 'from', kind: 'text', value: 'DIALECT', default: 'auto, which detects it', doc: 'The dialect to read.' },
    { name: 'kind', kind: 'text', value: 'KIND', default: 'detected', doc: `${KINDS.join(', ')}.` },
    { name: 'path', kind: 'text', value: 'PATH', doc: 'The path that a request was posted to. It distinguishes some dialects.' },
    {
      name: 'operation',
      kind: 'text',
      value: 'NAME',
      default: 'detected',
      doc: 'The operation that a response belongs to: send, get, list, ….',
    },
    { name: 'json', kind: 'switch', doc: 'Print one JSON object: from, to, kind, operation, output, lost.' },
    { name: 'list', kind: 'switch', doc: 'List the dialects.' },
  ],
  examples: [
    `echo '{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}}' \\
    | parley translate --to v10`,
  ],
  exits: '0 translated (also if something was lost); 1 not translatable; 2 wrong call.',
};

export const translateCommand: Command = { name: 'translate', help: helpFor(SPEC), spec: SPEC, run };

/** Reads a message in one dialect and prints it in others. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [file] = argumentsOf(flags).filter((word) => word !== '-');
  if (switchOf(flags, 'list')) {
    for (const dialect of DIALECTS) process.stdout.write(`${dialect.id.padEnd(16)}${dialect.title}\n`);
    return 0;
  }
  const targets = targetsOf(textOf(flags, 'to'));
  const [fromName, kindName, operationName] = [textOf(flags, 'from'), textOf(flags, 'kind'), textOf(flags, 'operation')];
  const from = fromName === undefined || fromName === 'auto' ? undefined : dialectOf(fromName, '--from');
  const kind = kindName === undefined ? undefined : oneOf(KINDS, kindName, '--kind');
  const operation = operationName === undefined ? undefined : oneOf(OPERATION_NAMES, operationName, '--operation');
  const source = file ?? 'standard input';
  const documents = documentsOf(await contentOf(file), source);
  if (documents.length === 0)
    throw new CliError(`there is nothing on ${source}`, { hint: 'example: parley translate --to v10 in.json', exit: 2 });
  for (const to of targets) {
    const options = { registry, env, to, ...given({ from, kind, operation, path: textOf(flags, 'path') }) };
    report(attempt(documents, options, targets.length > 1), to, switchOf(flags, 'json'));
  }
  return 0;
}

/** The input: a file, or standard input if it is not a terminal. */
async function contentOf(file: string | undefined): Promise<string> {
  if (file === undefined) return process.stdin.isTTY ? '' : await readStdin();
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    throw new CliError(`can't read ${file}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { exit: 2 });
  }
}

/** Several documents form a recorded stream. */
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

/** Prints the translation, and on standard error what the target can't express. */
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

/** Reads one JSON document, or else a recorded event stream or JSON lines. */
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

function targetsOf(to: string | undefined): readonly Dialect[] {
  if (to === undefined) throw new CliError('--to is missing', { hint: 'example: parley translate --to v10 in.json', exit: 2 });
  return to === 'all' ? DIALECTS.filter((dialect) => !dialect.id.includes('.')) : [dialectOf(to, '--to')];
}

/** A dialect by its id. Throws with a suggestion for an unknown one. */
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
