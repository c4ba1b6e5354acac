import { statSync, unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '#protocol';
import type { AuditProblem } from '../server/adapters/audit-file.ts';
import { auditFiles, auditLines, filesAfter, verifyAudit, verifyLog } from '../server/adapters/audit-file.ts';
import { dataFolder } from '../server/adapters/data-folder.ts';
import { isThere } from '../server/adapters/folders.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { asCliError } from './data/folder.ts';
import { helpFor } from './flags/help.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { listOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { unknownSubcommand } from './flags/subcommands.ts';

const SPEC: CommandSpec = {
  name: 'audit',
  summary: 'show, verify and export the log of work, rejected callers and administrative changes.',
  args: [{ name: 'COMMAND' }],
  usage: ['parley audit tail [OPTIONS]', 'parley audit verify [OPTIONS]', 'parley audit export [OPTIONS]'],
  details: `A node writes audit.jsonl beside its tasks, and moves it to the folder audit when it is full or old. Give the same --data as to
parley serve, or start in the same project; all files are read, in order. Each record holds a hash over itself and all records before it, also across files. verify finds
the first record that was changed, removed or inserted, an empty log, and an unfinished last line. Records that were cut off at the end show only if you kept
the head that an earlier verify printed: check it with --head. export prints all records as JSON lines, oldest first.`,
  flags: [
    {
      name: 'data',
      kind: 'text',
      value: 'DIR',
      default: 'PARLEY_DATA, or the folder of this project',
      doc: 'The data folder of parley serve.',
    },
    { name: 'file', kind: 'list', value: 'FILE', doc: 'The log file. Give a log that was moved away in parts with the oldest file first.' },
    { name: 'count', short: 'n', aliases: ['n'], kind: 'text', value: 'N', default: '20', doc: 'tail: the number of records.' },
    { name: 'follow', kind: 'switch', doc: 'tail: continue to print new records.' },
    { name: 'after', kind: 'text', value: 'SEQ', doc: 'export: only records with a higher number.' },
    { name: 'since', kind: 'text', value: 'TIME', doc: 'export: only records of this time or later.' },
    { name: 'until', kind: 'text', value: 'TIME', doc: 'export: only records before this time.' },
    { name: 'head', kind: 'text', value: 'HASH', doc: 'verify: this hash must be part of the chain.' },
    { name: 'json', kind: 'switch', doc: 'Print JSON lines.' },
  ],
  examples: ['parley audit tail -n 5'],
  exits: '0 done and intact; 1 damaged or missing; 2 wrong call.',
};

export const auditCommand: Command = { name: 'audit', help: helpFor(SPEC), spec: SPEC, run };

/** A log: one with its full files, or files that the user names. */
interface NamedLog {
  readonly files: readonly string[];
  /** The current file of a log that is in its place. */
  readonly path?: string;
}

/** Finds the log and runs the action. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [action] = flags.positionals;
  if (action !== 'tail' && action !== 'verify' && action !== 'export')
    throw unknownSubcommand('audit', action, ['tail', 'verify', 'export']);
  try {
    const log = logNamed(flags);
    if (action === 'verify') return await verify(log, textOf(flags, 'head'), switchOf(flags, 'json'));
    if (action === 'export') return await exportRecords(log, flags);
    const count = textOf(flags, 'count') ?? '20';
    if (!/^\d{1,9}$/.test(count)) throw wrongCall(`-n ${count}: must be a number`);
    return await tail(log, { count: Number(count), json: switchOf(flags, 'json'), follow: switchOf(flags, 'follow') });
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function logNamed(flags: ParsedFlags): NamedLog {
  const files = listOf(flags, 'file');
  if (files.length > 0) {
    for (const file of files) {
      if (!isThere(file)) throw noLog(file);
      if (statSync(file).isDirectory()) throw new CliError(`${file} is a folder, not a file`, { hint: 'name a data folder with --data' });
    }
    return { files };
  }
  const path = join(dataFolder(textOf(flags, 'data') ?? (process.env['PARLEY_DATA'] || undefined)), 'audit.jsonl');
  // `isThere` first: it throws if this user may not look into the folder.
  if (!isThere(path) && auditFiles(path).length === 0) throw noLog(path);
  return { files: auditFiles(path), path };
}

function noLog(path: string): CliError {
  return new CliError(`there is no audit log ${path}`, { hint: 'name it with --file, or its folder with --data' });
}

/** Prints the records of all files, unchanged. */
async function exportRecords({ files, path }: NamedLog, flags: ParsedFlags): Promise<number> {
  const after = textOf(flags, 'after') ?? '0';
  if (!/^\d{1,15}$/.test(after)) throw wrongCall(`--after ${after}: must be a number`);
  const [since, until] = [timeIn(flags, 'since'), timeIn(flags, 'until')];
  for (const file of path === undefined ? files : filesAfter(path, Number(after))) {
    for await (const { line, isTorn } of auditLines(file)) {
      const record = isTorn ? undefined : recordIn(line);
      if (record === undefined || record.seq <= Number(after)) continue;
      const at = Date.parse(record.time);
      if (at >= (since ?? at) && at < (until ?? Number.POSITIVE_INFINITY)) process.stdout.write(`${line}\n`);
    }
  }
  return 0;
}

function timeIn(flags: ParsedFlags, name: string): number | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw wrongCall(`--${name} ${text}: must be a time such as 2026-03-12T08:30:00Z`);
  return at;
}

/** Checks the hash chain. With `--head`, also that the log still has the record with that hash. */
async function verify({ files, path }: NamedLog, wanted: string | undefined, json: boolean): Promise<number> {
  const { records, head, open, problem } = await (path === undefined ? verifyAudit(files) : verifyLog(path));
  const isMissing = problem === undefined && wanted !== undefined && wanted !== head && !(await holds(files, wanted));
  const ok = problem === undefined && !isMissing;
  if (json) {
    // Print one document even for a damaged log: the check itself has worked.
    process.stdout.write(`${JSON.stringify({ records, head, ok, ...(problem === undefined ? {} : { problem }) })}\n`);
    return ok ? 0 : 1;
  }
  if (problem !== undefined) throw damage(problem, records);
  if (isMissing)
    throw new CliError(`the ${records} records are unchanged, but none of them has the hash ${wanted}`, {
      hint: 'the end of the log was cut off, or this is another log',
    });
  const loose = open === 0 ? '' : ` (no hash covers the last ${open} yet)`;
  process.stdout.write(`${records} records, all unchanged${loose}. Head: ${head}\n`);
  return 0;
}

/** The error for a damaged log, with the likely reason. */
function damage({ kind, file, line, words }: AuditProblem, records: number): CliError {
  const where = line === 0 ? file : `${file}, line ${line}`;
  const before = `the ${records} records before it are unchanged`;
  return new CliError(`${where}: ${words}`, {
    hint: {
      changed: before,
      torn: `${before}. A node that is killed while it writes leaves such a line. Its next start removes the line and adds the record audit.cut. If no node was killed, somebody has cut the log`,
      start: 'somebody has deleted files of the log, or the file start.json beside them was changed',
      empty: 'each start of a node writes a record: somebody has emptied the log, unless a node is starting right now',
    }[kind],
  });
}

/** Whether a record of the files has this hash. */
async function holds(files: readonly string[], hash: string): Promise<boolean> {
  for (const file of files) {
    for await (const { line } of auditLines(file)) if (line.endsWith(`"hash":"${hash}"}`)) return true;
  }
  return false;
}

interface Tail {
  readonly count: number;
  readonly json: boolean;
  readonly follow: boolean;
}

/** Prints the last records, then new ones with `--follow`. */
async function tail({ files, path }: NamedLog, { count, json, follow }: Tail): Promise<number> {
  const last: string[] = [];
  for (const file of files) {
    for await (const { line } of auditLines(file)) {
      last.push(line);
      if (last.length > count) last.shift();
    }
  }
  for (const line of last) print(line, json);
  const file = path ?? files.at(-1);
  if (!follow || file === undefined) return 0;
  await following(file, seqOf(last.at(-1)), json);
  return 0;
}

/** Until Ctrl-C. */
async function following(file: string, after: number, json: boolean): Promise<void> {
  let seen = after;
  let isReading = false;
  const more = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    // The file may have been moved away with records that were not read yet.
    for (const each of filesAfter(file, seen)) {
      for await (const { line } of auditLines(each)) {
        const seq = seqOf(line);
        if (seq <= seen) continue;
        seen = seq;
        print(line, json);
      }
    }
    isReading = false;
  };
  watchFile(file, { interval: 500 }, () => void more());
  await new Promise<void>((done) => process.once('SIGINT', () => done()).once('SIGTERM', () => done()));
  unwatchFile(file);
}

function seqOf(line: string | undefined): number {
  return line === undefined ? 0 : (recordIn(line)?.seq ?? 0);
}

function print(line: string, json: boolean): void {
  const record = json ? undefined : recordIn(line);
  process.stdout.write(`${record === undefined ? line : forPeople(record)}\n`);
}

function recordIn(line: string): AuditRecord | undefined {
  try {
    return JSON.parse(line) as AuditRecord;
  } catch {
    return undefined;
  }
}

/** One record on one line. */
function forPeople({ seq, time, principal, tenant, action, object, agent, decision, reason, client, repeats }: AuditRecord): string {
  const who = `${principal === '' ? '-' : principal}${tenant === undefined ? '' : ` of ${tenant}`}`;
  const what = [action, agent, object].filter((word) => word !== undefined).join(' ');
  const why = reason === undefined ? '' : ` (${reason})`;
  const from = client === undefined ? '' : ` from ${client}`;
  return clean(
    `${seq}  ${time}  ${decision.padEnd(7)}  ${who}  ${what}${why}${from}${repeats === undefined ? '' : `, ${repeats} times more`}`,
  );
}

/** Paths and ids come from callers. Control characters in them are made visible. */
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, '?');
}

function wrongCall(words: string): CliError {
  return new CliError(words, { hint: 'try: parley help audit', exit: 2 });
}
