import type { AdminStoreBytes, AdminStoreStats } from '#protocol';
import { storeStats } from '../server/adapters/store-stats.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { copy } from './data/copy.ts';
import { AUTH_FOLDER_FLAG, DATA_FLAG, JSON_FLAG } from './data/flags.ts';
import { asCliError, sizeText } from './data/folder.ts';
import { onData } from './data/person.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { unknownSubcommand } from './flags/subcommands.ts';
import { counted } from './output/counted.ts';

const SPEC: CommandSpec = {
  name: 'store',
  summary: 'what takes the space of a node, give free space back, and move a node to Postgres.',
  args: [{ name: 'COMMAND' }, { name: 'FROM', optional: true }, { name: 'TO', optional: true }],
  usage: ['parley store stats [OPTIONS]', 'parley store compact [OPTIONS]', 'parley store copy sqlite:DIR [postgres://URL] [--json]'],
  details: `stats and compact work on a running node and on a data folder without one. stats says how much tasks, events, large content, the audit log and free pages take. A node gives
the space of deleted tasks back by itself; compact rewrites the whole database, which also does that for a store of an older version. Sends wait for compact;
it takes a few seconds for each gigabyte.
copy moves the data of a stopped node, or of a backup, to an empty Postgres database (default: PARLEY_STORE, where other users don't see its password). It copies tasks with
their logs and large content, webhooks, records of sends, names of conversations and the keys of the node, and then compares every task on both sides. The source stays as it is.
Run it again after an interruption: it continues. Page tokens of lists become invalid.`,
  flags: [
    DATA_FLAG,
    AUTH_FOLDER_FLAG,
    {
      name: 'blobs',
      kind: 'text',
      value: 'PLACE',
      default: 'PARLEY_BLOBS, or the database',
      doc: 'copy: where large content goes, as for parley serve: a folder that all nodes share, or s3://BUCKET/PREFIX.',
    },
    JSON_FLAG,
  ],
  examples: ['parley store stats --json', 'parley store copy sqlite:./data postgres://parley@localhost/parley'],
  exits: '0 done; 1 failed; 2 wrong call; 3 the node did not answer.',
};

export const storeCommand: Command = { name: 'store', help: helpFor(SPEC), spec: SPEC, run };

const NAMES: readonly (readonly [keyof AdminStoreBytes, string])[] = [
  ['tasks', 'tasks'],
  ['events', 'events'],
  ['conversations', 'conversations (index)'],
  ['idempotency', 'idempotency records'],
  ['push', 'push configs and webhooks'],
  ['other', 'other'],
  ['free', 'free pages'],
  ['blobs', 'blobs'],
  ['audit', 'audit log'],
  ['search', 'search index'],
  ['wal', 'write-ahead log'],
  ['reserve', 'reserve for a full disk'],
];

/** Runs `stats`, `compact` or `copy`. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [action, ...more] = flags.positionals;
  if (action === 'copy') {
    const blobs = textOf(flags, 'blobs') ?? (process.env['PARLEY_BLOBS'] || undefined);
    return await copy(more, { json: switchOf(flags, 'json'), blobs });
  }
  if (action !== 'stats' && action !== 'compact') throw unknownSubcommand('store', action, ['stats', 'compact', 'copy']);
  if (more.length > 0) throw new CliError(`${more[0]}: ${action} takes no argument`, { hint: 'name the folder with --data', exit: 2 });
  const isStats = action === 'stats';
  try {
    const stats = await onData(flags, {
      running: async (api) =>
        ((await api.ask(isStats ? 'GET' : 'POST', isStats ? '/store' : '/store:compact')) as { readonly store: AdminStoreStats }).store,
      closed: async ({ store, data }) => {
        if (!isStats) await store.compact?.();
        return await storeStats(data, store);
      },
    });
    process.stdout.write(switchOf(flags, 'json') ? `${JSON.stringify(stats)}\n` : tableOf(stats));
    return 0;
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function tableOf({ tasks, bytes, files, backups }: AdminStoreStats): string {
  const rows = NAMES.map(([name, words]) => [words, sizeText(bytes[name])] as const);
  const total = NAMES.reduce((sum, [name]) => sum + bytes[name], 0);
  const lines = [...rows, ['total', sizeText(total)] as const].map(([words, size]) => `${words.padEnd(28)}${size.padStart(12)}`);
  const counts = [
    counted(tasks, 'task'),
    `${counted(files.blobs, 'file')} with large content`,
    `${counted(files.audit, 'file')} of the audit log`,
  ].join(', ');
  return `${lines.join('\n')}\n${counts}\n${backups === undefined ? '' : backupWords(backups)}`;
}

function backupWords({ to, lastAt, problem }: NonNullable<AdminStoreStats['backups']>): string {
  const last = lastAt === undefined ? `no backup at ${to} yet` : `last backup ${lastAt}, at ${to}`;
  return `${last}${problem === undefined ? '' : `; the last attempt failed: ${problem}`}\n`;
}
