import { setTimeout as sleep } from 'node:timers/promises';
import type { MeshPeer, PeerChange } from '#mesh';
import type { Settings } from '#server';
import { logFor } from '../../server/adapters/serve-configured.ts';
import { takeFlags } from '../bridges/own-flags.ts';
import { CliError } from '../command.ts';
import { settingsFor, untilSignal } from '../serve.ts';
import { parseServeFlags } from '../serve-flags.ts';
import { asCliError } from './broker.ts';
import { brokerOf, FLAGS } from './flags.ts';
import { joinAs, wayTo } from './serving.ts';

/** Who is there says so every 10 seconds; where a broker keeps the cards it hands them over at once. */
const LISTEN_MS = 11_000;
const HANDOVER_MS = 1000;

/** `parley mesh ls`. */
export async function list(args: readonly string[]): Promise<number> {
  const flags = takeFlags(args, { ...FLAGS, watch: 'flag', wait: 'one' });
  const wait = flags.one('wait');
  if (wait !== undefined && !/^\d{1,7}$/.test(wait)) throw new CliError(`--wait ${wait}: must be a number of milliseconds`, { exit: 2 });
  const parsed = parseServeFlags(flags.rest);
  const settings = await settingsFor(parsed);
  const way = await wayTo(brokerOf(flags, settings), { ...settings, artifacts: undefined }, logFor(settings));
  const { mesh } = await joinAs(`parley_ls_${crypto.randomUUID().slice(0, 8)}`, way);
  try {
    if (!flags.has('watch')) {
      const registry = await mesh.discover(rulesIn(flags));
      await sleep(Number(wait ?? (way.spoken.grammar.retainsCards === true ? HANDOVER_MS : LISTEN_MS)));
      process.stdout.write(parsed.json ? lines(registry.peers().map(shown)) : table(registry.peers(), settings));
      return 0;
    }
    const stopped = untilSignal();
    if (!parsed.json) process.stdout.write(`Listening on ${settings.namespace}. Stop with Ctrl-C.\n`);
    const say = (change: PeerChange): void =>
      void process.stdout.write(parsed.json ? lines([{ event: change.kind, ...shown(change.peer) }]) : told(change));
    await mesh.discover({ ...rulesIn(flags), onChange: say });
    await stopped;
    return 0;
  } catch (thrown) {
    throw asCliError(thrown);
  } finally {
    await mesh.close();
  }
}

export function rulesIn(flags: { many(name: string): readonly string[] }): { allow?: readonly string[]; deny?: readonly string[] } {
  const [allow, deny] = [flags.many('allow'), flags.many('deny')];
  return { ...(allow.length === 0 ? {} : { allow }), ...(deny.length === 0 ? {} : { deny }) };
}

function shown({ kind, name, card, seenAt, replicas }: MeshPeer): object {
  return { kind, name, description: card.description, version: card.version, replicas, seenAt: seenAt.toISOString() };
}

function lines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function told({ kind, peer }: PeerChange): string {
  return `${peer.seenAt.toISOString().slice(11, 19)}  ${kind.padEnd(7)}  ${peer.kind.padEnd(7)}  ${peer.name}  ${peer.card.description}\n`;
}

function table(peers: readonly MeshPeer[], { namespace, meshGrammar }: Settings): string {
  if (peers.length === 0) return `nobody in ${namespace} (${meshGrammar}); are --namespace and --mesh-grammar those of the agents?\n`;
  const rows = [
    ['KIND', 'NAME', 'REPLICAS', 'VERSION', 'DESCRIPTION'],
    ...peers.map(({ kind, name, replicas, card }) => [kind, name, String(replicas), card.version, card.description]),
  ];
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}
