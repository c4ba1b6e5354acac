import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AdminBackup } from '#protocol';
import { openSqliteStore, StoreError } from '../engine/adapters/sqlite.ts';
import type { BackupProgress } from '../server/adapters/backup.ts';
import { backUp, verifyBackup } from '../server/adapters/backup.ts';
import { packageVersion } from '../server/adapters/package-version.ts';
import { authFolder } from '../server/adapters/secret-files.ts';
import { adminApi } from './admin-api.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { AUTH_FOLDER_FLAG, DATA_FLAG, JSON_FLAG } from './data/flags.ts';
import { asCliError, dataNamed, NO_TASKS_HINT, nodeOn, progressLine, sizeText } from './data/folder.ts';
import { isInBucket, withBackup } from './data/named-backup.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { localToken } from './local-token.ts';

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
  exits: '0 done; 1 failed; 2 wrong call.',
};

export const backupCommand: Command = { name: 'backup', help: helpFor(SPEC), spec: SPEC, run };

/** What was made, as `--json` prints it. */
interface Made {
  readonly folder: string;
  readonly tasks: number;
  readonly damagedTasks: number;
  readonly bytes: number;
}

/** Backs up, or checks a backup. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [named, ...more] = flags.positionals;
  if (named === undefined || more.length > 0)
    throw new CliError(named === undefined ? 'where to?' : `${more[0]}: one folder is enough`, {
      hint: 'try: parley help backup',
      exit: 2,
    });
  const json = switchOf(flags, 'json');
  try {
    if (switchOf(flags, 'verify')) return await withBackup(named, (folder) => verify(folder, { named, json }));
    if (isInBucket(named))
      throw new CliError('this command backs up to a folder', {
        hint: 'a node writes to a bucket by itself: parley serve --backup-to s3://BUCKET',
        exit: 2,
      });
    const to = resolve(named);
    const auth = authFolder(textOf(flags, 'auth-folder') ?? (process.env['PARLEY_AUTH_FOLDER'] || undefined));
    const data = dataNamed(textOf(flags, 'data'));
    const url = nodeOn(data, auth);
    const made = url === undefined ? await ofClosed(data, auth, to) : await ofRunning(url, auth, to);
    return say(json, { ...made }, wordsFor(made));
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function wordsFor({ folder, tasks, damagedTasks, bytes }: Made): string {
  const damaged = damagedTasks === 0 ? '' : ` ${damagedTasks} more are damaged on the node, and in the backup.`;
  return `${folder}: ${tasks} tasks, ${sizeText(bytes)}, all read again and complete.${damaged}`;
}

/** The node makes the backup itself: only the process that writes the database can copy it without stopping. */
async function ofRunning(url: string, auth: string, to: string): Promise<Made> {
  const api = adminApi(url, process.env['PARLEY_TOKEN'] ?? localToken(url, { ...process.env, PARLEY_AUTH_FOLDER: auth }));
  const line = progressLine();
  let { backup } = (await api.ask('POST', '/backup', { folder: to })) as { readonly backup: AdminBackup };
  while (backup.state === 'running') {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    ({ backup } = (await api.ask('GET', '/backup')) as { readonly backup: AdminBackup });
    if (backup.step !== undefined) line.show(stepText({ step: backup.step, done: backup.done ?? 0, total: backup.total ?? 0 }));
  }
  line.end();
  if (backup.state === 'failed') throw new CliError(`the backup failed: ${backup.problem}`);
  return { folder: to, tasks: backup.tasks ?? 0, damagedTasks: backup.damagedTasks ?? 0, bytes: backup.bytes ?? 0 };
}

const LOOK_MS = 250;

/** No node runs on the folder, so this process opens it. */
async function ofClosed(data: string, auth: string, to: string): Promise<Made> {
  if (!existsSync(join(data, 'tasks.db'))) throw new CliError(`${data} has no tasks`, { hint: NO_TASKS_HINT, exit: 2 });
  const store = openSqliteStore(join(data, 'tasks.db'), { create: false, ballastBytes: 0 });
  const line = progressLine();
  try {
    const made = await backUp({ store, folder: data, authFolder: auth, version: packageVersion() }, to, {
      onProgress: (progress) => line.show(stepText(progress)),
    });
    const bytes = made.files.reduce((sum, file) => sum + file.bytes, 0);
    return { folder: to, tasks: made.tasks, damagedTasks: made.damaged.length, bytes };
  } finally {
    line.end();
    await store.close();
  }
}

function stepText({ step, done, total }: BackupProgress): string {
  const what = { files: 'files', database: 'pages of the database', checking: 'tasks read again' }[step];
  return `${done} of ${total} ${what}`;
}

async function verify(from: string, { named, json }: { readonly named: string; readonly json: boolean }): Promise<number> {
  const line = progressLine();
  const { manifest, tasks } = await verifyBackup(from, { onTask: (done) => line.show(`${done} tasks read`) }).finally(line.end);
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
