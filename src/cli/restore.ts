import { restore } from '../server/adapters/backup.ts';
import { authFolder } from '../server/adapters/secret-files.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { DATA_FLAG, JSON_FLAG, NEW_AUTH_FOLDER_FLAG } from './data/flags.ts';
import { asCliError, dataNamed, progressLine } from './data/folder.ts';
import { withBackup } from './data/named-backup.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';

const SPEC: CommandSpec = {
  name: 'restore',
  summary: 'make a data folder from a backup.',
  args: [{ name: 'BACKUP' }],
  usage: ['parley restore BACKUP [--data DIR] [OPTIONS]'],
  details: `BACKUP is a folder, or s3://BUCKET/PREFIX/NAME?endpoint=URL with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; that is downloaded to the
temporary folder (TMPDIR) first. Checks every file and every task of the backup. Nothing is overwritten: the data folder must be new or empty. API keys
are restored unless this machine has some already.`,
  flags: [DATA_FLAG, NEW_AUTH_FOLDER_FLAG, JSON_FLAG],
  examples: [
    'parley restore ~/backups/2026-11-16 --data ./restored',
    'parley restore s3://backups/parley-1f2e3d4c-20261116T120000000Z --data ./restored',
  ],
  exits: '0 done; 1 failed; 2 wrong call.',
};

export const restoreCommand: Command = { name: 'restore', help: helpFor(SPEC), spec: SPEC, run };

/** Restores a backup to a new data folder. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [from, ...more] = flags.positionals;
  if (from === undefined || more.length > 0)
    throw new CliError(from === undefined ? 'which backup?' : `${more[0]}: one backup is enough`, {
      hint: 'try: parley help restore',
      exit: 2,
    });
  const data = dataNamed(textOf(flags, 'data'));
  const auth = authFolder(textOf(flags, 'auth-folder') ?? (process.env['PARLEY_AUTH_FOLDER'] || undefined));
  const line = progressLine();
  try {
    const onTask = (done: number): void => line.show(`${done} tasks read`);
    const { manifest, tasks, hasRestoredApiKeys } = await withBackup(from, (folder, signal) =>
      restore(folder, { folder: data, authFolder: auth }, { onTask, signal }),
    ).finally(line.end);
    if (switchOf(flags, 'json')) {
      process.stdout.write(
        `${JSON.stringify({ folder: data, at: manifest.at, tasks: tasks.tasks, apiKeys: hasRestoredApiKeys ?? null })}\n`,
      );
      return 0;
    }
    const where = textOf(flags, 'auth-folder') === undefined ? '' : ` --auth-folder ${auth}`;
    const keys =
      hasRestoredApiKeys === false ? `\nThis machine has API keys already: they were kept, those of the backup are in ${from}/auth.` : '';
    process.stdout.write(
      `${data}: ${tasks.tasks} tasks of ${manifest.at}.${keys}\nServe them with: parley serve AGENT --data ${data}${where}\n`,
    );
    return 0;
  } catch (thrown) {
    throw asCliError(thrown);
  }
}
