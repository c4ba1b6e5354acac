import { resolve } from 'node:path';
import type { AdminBackup } from '#protocol';
import { StoreError } from '../engine/adapters/sqlite.ts';
import type { BackupProgress, BackupSummary } from '../server/adapters/backup.ts';
import { backUp, readManifest, summaryOf, verifyBackup } from '../server/adapters/backup.ts';
import { servedAuthFolder } from '../server/adapters/data-note.ts';
import { packageVersion } from '../server/adapters/package-version.ts';
import type { AdminApi } from './admin-api.ts';
import type { Command } from './command.ts';
import { CliError, usage } from './command.ts';
import { AUTH_FOLDER_FLAG, DATA_FLAG, JSON_FLAG } from './data/flags.ts';
import type { DataPlace } from './data/folder.ts';
import { asCliError, openClosed, placeNamed, progressLine, sizeText, untilInterrupted } from './data/folder.ts';
import { isInBucket, withBackup } from './data/named-backup.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';

const SPEC: CommandSpec = {
  name: 'backup',
  summary: 'copy the data of a node to a folder, while it runs or not.',
  args: [{ name: 'DIR' }],
  usage: ['parley backup DIR [OPTIONS]', 'parley backup --verify DIR'],
  details: `DIR must be new or empty. The backup has the database, large content, the keys of the node, the API keys and the audit log, all of one moment. Every
task of it is read once, so a backup that was made can be restored. Files in the workspaces of coding agents are not part of it. DIR then holds secrets:
keep it as safe as the node. parley restore makes a data folder of it.`,
  flags: [
    DATA_FLAG,
    AUTH_FOLDER_FLAG,
    { name: 'verify', kind: 'switch', doc: 'Check the backup in DIR, or in a bucket (s3://…), instead: every file and every task.' },
    JSON_FLAG,
  ],
  examples: ['parley backup ~/backups/$(date +%F)'],
  exits: '0 done; 1 failed; 2 wrong call; 3 the node did not answer.',
};

export const backupCommand: Command = { name: 'backup', help: helpFor(SPEC), spec: SPEC, run };

/** What was made, as `--json` prints it. */
interface Made extends BackupSummary {
  readonly folder: string;
  /** The folder in which no API keys were found, unless the node is known to have none. */
  readonly noKeysIn?: string;
}

/** Backs up, or checks a backup. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const isCheck = switchOf(flags, 'verify');
  const [named, ...more] = flags.positionals;
  if (named === undefined)
    throw usage(isCheck ? 'which backup? name its folder' : 'where to? name a new folder', 'try: parley help backup');
  if (more.length > 0) throw usage(`${more[0]}: one folder is enough`, 'try: parley help backup');
  const json = switchOf(flags, 'json');
  try {
    if (isCheck) return await withBackup(named, (folder, signal) => verify(folder, { named, json, signal }));
    if (isInBucket(named))
      throw usage('this command backs up to a folder', 'a node writes to a bucket by itself: parley serve --backup-to s3://BUCKET');
    const to = resolve(named);
    const place = placeNamed(flags);
    const made = place.api === undefined ? await ofClosed(place, to) : await ofRunning(place.api, to);
    return say(json, { ...made }, wordsFor(made));
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function wordsFor({ folder, tasks, damagedTasks, bytes, noKeysIn }: Made): string {
  const damaged = damagedTasks === 0 ? '' : ` ${damagedTasks} more are damaged on the node, and in the backup.`;
  const keys =
    noKeysIn === undefined
      ? ''
      : `\nIt has NO API KEYS: there are none in ${noKeysIn}. If the node has some elsewhere, name their folder with --auth-folder and back up again.`;
  return `${folder}: ${tasks} tasks, ${sizeText(bytes)}, all read again and complete.${damaged}${keys}`;
}

/** The node makes the backup itself: only the process that writes the database can copy it without stopping. */
async function ofRunning(api: AdminApi, to: string): Promise<Made> {
  const line = progressLine();
  const look = async (): Promise<AdminBackup> => ((await api.ask('GET', '/backup')) as { readonly backup: AdminBackup }).backup;
  let { backup } = (await api.ask('POST', '/backup', { folder: to })) as { readonly backup: AdminBackup };
  while (backup.folder === to && backup.state === 'running') {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    backup = await look();
    if (backup.step !== undefined) line.show(stepText({ step: backup.step, done: backup.done ?? 0, total: backup.total ?? 0 }));
  }
  line.end();
  // The node has begun a scheduled backup since: what was made is in the folder.
  if (backup.folder !== to) return { folder: to, ...summaryOf(readManifest(to)) };
  if (backup.state === 'failed') throw new CliError(`the backup failed: ${backup.problem}`);
  const { tasks = 0, damagedTasks = 0, bytes = 0, apiKeys = false } = backup;
  return { folder: to, tasks, damagedTasks, bytes, apiKeys };
}

const LOOK_MS = 250;

/** No node runs on the folder, so this process opens it. */
async function ofClosed(place: DataPlace, to: string): Promise<Made> {
  const store = openClosed(place);
  const line = progressLine();
  const onProgress = (progress: BackupProgress): void => line.show(stepText(progress));
  const source = { store, folder: place.data, authFolder: place.auth, version: packageVersion() };
  try {
    const made = summaryOf(await untilInterrupted((signal) => backUp(source, to, { onProgress, signal })));
    // A node that was served with this folder has no keys.
    const isMissing = !made.apiKeys && servedAuthFolder(place.data) !== resolve(place.auth);
    return { folder: to, ...made, ...(isMissing ? { noKeysIn: place.auth } : {}) };
  } finally {
    line.end();
    await store.close();
  }
}

function stepText({ step, done, total }: BackupProgress): string {
  const what = { files: 'files', database: 'pages of the database', checking: 'tasks read again' }[step];
  return `${done} of ${total} ${what}`;
}

interface Check {
  readonly named: string;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

async function verify(from: string, { named, json, signal }: Check): Promise<number> {
  const line = progressLine();
  const onTask = (done: number): void => line.show(`${done} tasks read`);
  const { manifest, tasks } = await verifyBackup(from, { onTask, signal }).finally(line.end);
  const folder = isInBucket(named) ? named : from;
  const known = new Set(manifest.damaged);
  const lost = tasks.damaged.filter(({ id }) => !known.has(id));
  const ok = lost.length === 0;
  const found = { folder, ok, at: manifest.at, version: manifest.version, tasks: tasks.tasks, damaged: tasks.damaged };
  const [first] = lost;
  if (first !== undefined && !json) throw new StoreError('damaged', `task ${first.id} of the backup is damaged: ${first.why}`);
  say(json, found, `${folder}: made ${manifest.at} by Parley ${manifest.version}; ${tasks.tasks} tasks, complete.`);
  return ok ? 0 : 1;
}

function say(json: boolean, value: object, words: string): number {
  process.stdout.write(`${json ? JSON.stringify(value) : words}\n`);
  return 0;
}
