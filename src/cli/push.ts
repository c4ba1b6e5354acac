import type { AdminDelivery } from '#protocol';
import { ConfigError } from '#server';
import { DEFAULT_PORT } from '../server/adapters/node.ts';
import { rotateKeys } from '../server/adapters/node-keys-file.ts';
import type { OperatorApi } from './admin-api.ts';
import { operatorApi } from './admin-api.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import { noSuchWord, readArgs } from './flags/own.ts';
import { localToken } from './local-token.ts';
import { addressOf, isAddress } from './wire/address.ts';

export const pushCommand: Command = {
  name: 'push',
  help: `parley push: what the webhooks of a running node have not heard yet.

Usage: parley push ls [OPTIONS]              Queues of webhooks: what is waiting, since when, and why
       parley push dead [OPTIONS]            Dead letters: what was given up on
       parley push replay ID… [OPTIONS]      Try dead letters again
       parley push replay --all [OPTIONS]
       parley push drop ID… [OPTIONS]        Throw dead letters away
       parley push rotate --data DIR         Put new keys in front of the old ones; the node takes them at its next start

Options:
  --url URL      The node. (http://127.0.0.1:${DEFAULT_PORT}, or the port in PORT)
  --token TOKEN  What the node knows you by; also PARLEY_TOKEN. On loopback: this machine's own.
  --data DIR     For rotate: the folder of the node.
  --json         Print JSON, one delivery a line.

Example:
  parley push dead --json

Exit codes: 0 done, 1 the node could not be asked or refused, 2 wrong call.
`,
  run,
};

interface Flags {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

type Action = (api: OperatorApi, ids: readonly string[], flags: Flags) => Promise<number>;

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
    if (all === true) takeNone(ids);
    const chosen = all === true ? (await deliveries(api, 'dead')).map(({ id }) => id) : some(ids);
    const replayed: AdminDelivery[] = [];
    for (const id of chosen) replayed.push((await api.ask('POST', `/push/deliveries/${id}:replay`)) as AdminDelivery);
    return show(replayed, json, 'There are no dead letters.');
  },
  drop: async (api, ids) => {
    for (const id of some(ids)) await api.ask('DELETE', `/push/deliveries/${id}`);
    return 0;
  },
};

async function run(args: readonly string[]): Promise<number> {
  const { flags, positionals } = parsed(args);
  const [given, ...ids] = positionals;
  const verb = given === 'list' ? 'ls' : given;
  if (verb === 'rotate') return rotate(flags);
  const action = verb === undefined ? undefined : ACTIONS[verb];
  if (action === undefined) {
    throw noSuchWord('push', verb, [...Object.keys(ACTIONS), 'rotate']);
  }
  const url =
    flags.url !== undefined && isAddress(flags.url)
      ? addressOf(flags.url)
      : (flags.url ?? `http://127.0.0.1:${process.env['PORT'] ?? DEFAULT_PORT}`);
  return action(operatorApi(url, flags.token ?? process.env['PARLEY_TOKEN'] ?? localToken(url)), ids, flags);
}

function parsed(args: readonly string[]): { readonly flags: Flags; readonly positionals: readonly string[] } {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values, positionals } = readArgs('push', args, { url: text, token: text, data: text, json: flag, all: flag });
  return { flags: values, positionals };
}

function takeNone(ids: readonly string[]): void {
  if (ids.length === 0) return;
  throw new CliError(`${ids[0]} is not wanted here`, { hint: 'try: parley help push', exit: 2 });
}

function some(ids: readonly string[]): readonly number[] {
  if (ids.length === 0)
    throw new CliError('which dead letter?', { hint: 'parley push dead lists them; --all with replay means every one', exit: 2 });
  return ids.map((id) => {
    if (/^\d{1,15}$/.test(id)) return Number(id);
    throw new CliError(`${id} is not the number of a delivery`, { hint: 'parley push dead lists them', exit: 2 });
  });
}

const PAGE = 1000;

async function deliveries(api: OperatorApi, state?: 'dead'): Promise<readonly AdminDelivery[]> {
  const all: AdminDelivery[] = [];
  for (let after = 0; ; ) {
    const query = `after=${after}&limit=${PAGE}${state === undefined ? '' : `&state=${state}`}`;
    const page = ((await api.ask('GET', `/push/deliveries?${query}`)) as { deliveries: readonly AdminDelivery[] }).deliveries;
    all.push(...page);
    after = page.at(-1)?.id ?? after;
    if (page.length < PAGE) return all;
  }
}

function show(found: readonly AdminDelivery[], json: boolean | undefined, none: string): number {
  if (json === true) for (const delivery of found) process.stdout.write(`${JSON.stringify(delivery)}\n`);
  else process.stdout.write(found.length === 0 ? `${none}\n` : table(found));
  return 0;
}

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

async function rotate({ data }: Flags): Promise<number> {
  if (data === undefined)
    throw new CliError('--data is missing: whose keys?', { hint: 'the folder that you give to parley serve --data', exit: 2 });
  try {
    const { signing } = await rotateKeys(data);
    process.stdout.write(`${signing.length} signing keys; restart the node to use the new one\n`);
    return 0;
  } catch (thrown) {
    throw thrown instanceof ConfigError ? new CliError(thrown.message) : thrown;
  }
}
