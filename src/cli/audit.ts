import { statSync, unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { AuditProblem } from '../server/adapters/audit-file.ts';
import { auditFiles, auditLines, filesAfter, verifyAudit, verifyLog } from '../server/adapters/audit-file.ts';
import { dataFolder } from '../server/adapters/data-folder.ts';
import { isThere } from '../server/adapters/folders.ts';
import type { TailOptions } from './audit/options.ts';
import { isWithin, rangeIn, tailIn, wrongCall } from './audit/options.ts';
import { print, recordIn } from './audit/print.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { asCliError } from './data/folder.ts';
import { helpFor } from './flags/help.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { listOf, parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { unknownSubcommand } from './flags/subcommands.ts';
import { settingsFor } from './serve.ts';

const SPEC: CommandSpec = {
  name: 'audit',
  summary: 'show, verify and export the log of work, rejected callers and administrative changes.',
  args: [{ name: 'COMMAND' }],
  usage: ['parley audit tail [OPTIONS]', 'parley audit verify [OPTIONS]', 'parley audit export [OPTIONS]'],
  details: `Nodes on a Postgres database write their records into it: with --store, those of all nodes are read, in the order of their times. Any other
node writes audit.jsonl beside its tasks, and moves it to the folder audit when it is full or old. Give the same --data as to
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
    {
      name: 'store',
      kind: 'text',
      value: 'URL',
      default: 'PARLEY_STORE, or that of the configuration; none with --data or --file',
      doc: 'The Postgres database of the nodes.',
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
    const store = await storeNamed(flags);
    if (store !== undefined) return await (await import('./audit/database.ts')).runOnDatabase(action, store, flags);
    const log = logNamed(flags);
    if (action === 'verify') return await verify(log, textOf(flags, 'head'), switchOf(flags, 'json'));
    if (action === 'export') return await exportRecords(log, flags);
    return await tail(log, tailIn(flags));
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

/** The database of several nodes. A file or a folder that is named counts before that of the environment and the configuration. */
async function storeNamed(flags: ParsedFlags): Promise<string | undefined> {
  const url = textOf(flags, 'store');
  const isPlaced = listOf(flags, 'file').length > 0 || textOf(flags, 'data') !== undefined;
  const isFolderSet = (process.env['PARLEY_DATA'] ?? '') !== '' && (process.env['PARLEY_STORE'] ?? '') === '';
  if (url !== undefined && isPlaced) throw wrongCall('--store excludes --data and --file: remove one of them');
  if (url !== undefined || isPlaced || isFolderSet) return url;
  const { store, memory } = await settingsFor({ settings: new Map(), config: undefined });
  return memory ? undefined : store;
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
  return new CliError(`there is no audit log ${path}`, {
    hint: 'name it with --file, its folder with --data, or the database of the nodes with --store',
  });
}

/** Prints the records of all files, unchanged. */
async function exportRecords({ files, path }: NamedLog, flags: ParsedFlags): Promise<number> {
  const range = rangeIn(flags);
  for (const file of path === undefined ? files : filesAfter(path, range.after)) {
    for await (const { line, isTorn } of auditLines(file)) {
      const record = isTorn ? undefined : recordIn(line);
      if (record !== undefined && isWithin(record, range)) process.stdout.write(`${line}\n`);
    }
  }
  return 0;
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

/** Prints the last records, then new ones with `--follow`. */
async function tail({ files, path }: NamedLog, { count, json, follow }: TailOptions): Promise<number> {
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
