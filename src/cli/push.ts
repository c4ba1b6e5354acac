import type { AdminDelivery } from '#protocol';
import { ConfigError } from '#server';
import { rotateKeys } from '../server/adapters/node-keys-file.ts';
import type { AdminApi } from './admin-api.ts';
import { isAddress } from './agent/address.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { helpFor } from './flags/help.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { parse, switchOf, textOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { unknownSubcommand } from './flags/subcommands.ts';
import { NODE_FLAGS, nodeApi } from './node-flags.ts';

const SPEC: CommandSpec = {
  name: 'push',
  summary: 'pending and failed webhook deliveries of a running node.',
  args: [{ name: 'COMMAND' }, { name: 'ID', optional: true, many: true }],
  usage: [
    'parley push ls [URL] [OPTIONS]        Pending deliveries, their age, and the last error',
    'parley push dead [URL] [OPTIONS]      Dead letters: deliveries that failed for good',
    'parley push replay ID… [OPTIONS]      Retry dead letters',
    'parley push replay --all [OPTIONS]',
    'parley push drop ID… [OPTIONS]        Delete dead letters',
    'parley push rotate --data DIR         Add new signing keys; the node uses them from its next start',
  ],
  flags: [
    ...NODE_FLAGS,
    { name: 'all', kind: 'switch', doc: 'replay: all dead letters.' },
    { name: 'data', kind: 'text', value: 'DIR', doc: 'rotate: the data folder of the node.' },
    { name: 'json', kind: 'switch', doc: 'Print JSON, one delivery per line.' },
  ],
  examples: ['parley push dead --json'],
  exits: '0 done; 1 the node rejected the request; 2 wrong call; 3 the node did not answer.',
};

export const pushCommand: Command = { name: 'push', help: helpFor(SPEC), spec: SPEC, run };

interface Flags {
  readonly json: boolean;
  readonly all: boolean;
}

type Action = (api: AdminApi, ids: readonly string[], flags: Flags) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = {
  ls: async (api, ids, { json }) => {
    takeNone(ids);
    return show(await deliveries(api), json, 'Nothing waits: every webhook has heard everything.');
  },
  dead: async (api, ids, { json }) => {
    takeNone(ids);
    return show(await deliveries(api, 'dead'), json, 'There are no dead letters.');
  },
  replay: async (api, ids, { all, json }) => {
    if (all) takeNone(ids);
    const chosen = all ? (await deliveries(api, 'dead')).map(({ id }) => id) : some(ids);
    const replayed: AdminDelivery[] = [];
    for (const id of chosen) replayed.push((await api.ask('POST', `/push/deliveries/${id}:replay`)) as AdminDelivery);
    return show(replayed, json, 'There are no dead letters.');
  },
  drop: async (api, ids) => {
    for (const id of some(ids)) await api.ask('DELETE', `/push/deliveries/${id}`);
    return 0;
  },
};

/** Lists deliveries and dead letters, sends dead letters again, deletes them, or rotates keys. */
async function run(args: readonly string[]): Promise<number> {
  const flags = parse(SPEC, args);
  const [given, ...words] = flags.positionals;
  const verb = given === 'list' ? 'ls' : given;
  if (verb === 'rotate') return await rotate(flags);
  const action = verb === undefined ? undefined : ACTIONS[verb];
  if (action === undefined) {
    throw unknownSubcommand('push', verb, [...Object.keys(ACTIONS), 'rotate']);
  }
  // Numbers are deliveries, and ports only where no delivery can be named.
  const takesNumbers = verb === 'replay' || verb === 'drop';
  const isUrl = words[0] !== undefined && isAddress(words[0]) && !(takesNumbers && /^\d+$/.test(words[0]));
  const ids = isUrl ? words.slice(1) : words;
  const api = nodeApi(flags, isUrl ? words[0] : undefined);
  return await action(api, ids, { json: switchOf(flags, 'json'), all: switchOf(flags, 'all') });
}

function takeNone(ids: readonly string[]): void {
  if (ids.length === 0) return;
  throw new CliError(`${ids[0]} is not wanted here`, { hint: 'try: parley help push', exit: 2 });
}

/** The numbers of the deliveries that the caller named. */
function some(ids: readonly string[]): readonly number[] {
  if (ids.length === 0)
    throw new CliError('which dead letter?', { hint: 'parley push dead lists them; --all with replay means every one', exit: 2 });
  return ids.map((id) => {
    if (/^\d{1,15}$/.test(id)) return Number(id);
    throw new CliError(`${id} is not the number of a delivery`, { hint: 'parley push dead lists them', exit: 2 });
  });
}

const PAGE = 1000;

/** All deliveries, page by page. */
async function deliveries(api: AdminApi, state?: 'dead'): Promise<readonly AdminDelivery[]> {
  const all: AdminDelivery[] = [];
  for (let after = 0; ; ) {
    const query = `after=${after}&limit=${PAGE}${state === undefined ? '' : `&state=${state}`}`;
    const page = ((await api.ask('GET', `/push/deliveries?${query}`)) as { deliveries: readonly AdminDelivery[] }).deliveries;
    all.push(...page);
    after = page.at(-1)?.id ?? after;
    if (page.length < PAGE) return all;
  }
}

function show(found: readonly AdminDelivery[], json: boolean, none: string): number {
  if (json) for (const delivery of found) process.stdout.write(`${JSON.stringify(delivery)}\n`);
  else process.stdout.write(found.length === 0 ? `${none}\n` : table(found));
  return 0;
}

/** The deliveries in columns. */
function table(found: readonly AdminDelivery[]): string {
  const rows = [
    ['ID', 'STATE', 'EVENTS', 'ATTEMPTS', 'NEXT', 'TASK', 'URL', 'PROBLEM'],
    ...found.map(({ id, state, pending, first, last, attempts, dueAt = '', taskId, url, problem = '' }) => {
      const events = pending === 0 ? '-' : first === last ? `${first}` : `${first}-${last}`;
      return [String(id), state, events, String(attempts), dueAt, taskId, url, problem];
    }),
  ];
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Makes a new signing key. The node uses it after its next start. */
async function rotate(flags: ParsedFlags): Promise<number> {
  const data = textOf(flags, 'data');
  if (data === undefined)
    throw new CliError('--data is missing', { hint: 'name the folder that you give to parley serve --data', exit: 2 });
  try {
    const { signing } = await rotateKeys(data);
    process.stdout.write(`${signing.length} signing keys; restart the node to use the new one\n`);
    return 0;
  } catch (thrown) {
    throw thrown instanceof ConfigError ? new CliError(thrown.message) : thrown;
  }
}
