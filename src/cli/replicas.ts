import type { ReplicaRow } from '../engine/adapters/postgres.ts';
import { listReplicas, urlProblem } from '../engine/adapters/postgres.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { JSON_FLAG } from './data/flags.ts';
import { asCliError } from './data/folder.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { plain } from './output/plain-text.ts';
import { settingsFor } from './serve.ts';

const SPEC: CommandSpec = {
  name: 'replicas',
  summary: 'the nodes that use a Postgres database, and how many cells each owns.',
  args: [],
  usage: ['parley replicas [OPTIONS]'],
  details: `The tasks of a database are divided into cells, and each node serves a share of them. When a node ends, the others take its cells over. A node that has crashed is listed until its lease ends. With --json each has the address at which other nodes reach it (link).`,
  flags: [
    { name: 'store', kind: 'text', value: 'URL', default: 'PARLEY_STORE, or that of the configuration', doc: 'The Postgres database.' },
    JSON_FLAG,
  ],
  examples: ['parley replicas --store postgres://parley@localhost/parley'],
  exits: '0 listed; 1 failed; 2 wrong call.',
};

export const replicasCommand: Command = { name: 'replicas', help: helpFor(SPEC), spec: SPEC, run };

/** Lists the replicas of a database. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [word] = flags.positionals;
  if (word !== undefined) throw new CliError(`${word}: replicas takes no argument`, { hint: 'try: parley help replicas', exit: 2 });
  const url = textOf(flags, 'store') ?? (await settingsFor({ settings: new Map(), config: undefined })).store;
  if (url === undefined) throw new CliError('which database?', { hint: 'name it with --store postgres://…, or in PARLEY_STORE', exit: 2 });
  const problem = urlProblem(url);
  if (problem !== undefined) throw new CliError(problem, { exit: 2 });
  try {
    const rows = await listReplicas(url);
    process.stdout.write(
      switchOf(flags, 'json')
        ? `${JSON.stringify(rows, (name, value: unknown) => (name === 'owned' ? undefined : value))}\n`
        : tableOf(rows),
    );
    return 0;
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function tableOf(rows: readonly ReplicaRow[]): string {
  if (rows.length === 0) return 'No node uses this database.\n';
  const lines = rows.map(({ replica, url, started, leaseMs, cells, isLeaving }) => {
    const state = leaseMs < 0 ? 'lapsed' : isLeaving === true ? 'leaves' : 'serves';
    return [String(replica), state, `${cells} cells`, `lease ${Math.round(leaseMs / 100) / 10} s`, `since ${started}`, plain(url)];
  });
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  return `${lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`;
}
