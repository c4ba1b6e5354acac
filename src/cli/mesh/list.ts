import { setTimeout as sleep } from 'node:timers/promises';
import type { MeshPeer, PeerChange } from '#mesh';
import type { Settings } from '#server';
import { logFor } from '../../server/adapters/serve-configured.ts';
import type { Command } from '../command.ts';
import { CliError } from '../command.ts';
import { helpFor } from '../flags/help.ts';
import { argumentsOf, parse, switchOf, textOf } from '../flags/parse.ts';
import type { CommandSpec } from '../flags/spec.ts';
import { readServeFlags, serveFlags } from '../serve/flags.ts';
import { untilSignal } from '../serve/signals.ts';
import { settingsFor } from '../serve.ts';
import { asCliError } from './broker.ts';
import { brokerOf, MESH_FLAGS, peerFilter } from './flags.ts';
import { createMeshSetup, joinAs } from './serving.ts';

/** Agents announce themselves every 10 seconds. A broker that retains the cards delivers them at once. */
const LISTEN_MS = 11_000;
const HANDOVER_MS = 1000;

const SPEC: CommandSpec = {
  name: 'mesh ls',
  summary: 'list the agents on the mesh.',
  args: [],
  details: `Agents announce themselves every 10 seconds, so the command listens that long (--wait) and then prints the agents it heard.`,
  flags: [
    ...MESH_FLAGS,
    { name: 'watch', kind: 'switch', doc: 'Print agents as they come and go, until Ctrl-C.' },
    {
      name: 'wait',
      kind: 'text',
      value: 'MS',
      default: '11000; 1000 with --mesh-grammar mqtt01, where the broker retains the cards',
      doc: 'How long to listen.',
    },
    ...serveFlags(['Coding agents and commands']),
  ],
  notes: 'Of the flags of a node, only those of the mesh, --config, --json and --log have an effect.',
  examples: [
    'parley mesh ls --broker mqtt://127.0.0.1:1883 --watch',
    'parley mesh ls --broker mqtt://127.0.0.1:1883 --mesh-grammar mqtt01 --namespace acme/plant-1',
  ],
  exits: "0 done; 1 the broker can't be reached; 2 wrong call.",
};

export const listCommand: Command = { name: 'ls', help: helpFor(SPEC), spec: SPEC, run: list };

/** Joins the mesh, waits for cards, and prints them. */
async function list(args: readonly string[]): Promise<number> {
  const given = parse(SPEC, args);
  argumentsOf(given);
  const wait = textOf(given, 'wait');
  if (wait !== undefined && !/^\d{1,7}$/.test(wait)) throw new CliError(`--wait ${wait}: must be a number of milliseconds`, { exit: 2 });
  const parsed = readServeFlags(given);
  const settings = await settingsFor(parsed);
  const setup = await createMeshSetup(brokerOf(given, settings), { ...settings, artifacts: undefined }, logFor(settings));
  const { mesh } = await joinAs(`parley_ls_${crypto.randomUUID().slice(0, 8)}`, setup);
  try {
    if (!switchOf(given, 'watch')) {
      const registry = await mesh.discover(peerFilter(given));
      await sleep(Number(wait ?? (setup.configured.grammar.retainsCards ? HANDOVER_MS : LISTEN_MS)));
      process.stdout.write(parsed.json ? lines(registry.peers().map(peerRow)) : table(registry.peers(), settings));
      return 0;
    }
    const stopped = untilSignal();
    if (!parsed.json) process.stdout.write(`Listening on ${settings.namespace}. Stop with Ctrl-C.\n`);
    const say = (change: PeerChange): void =>
      void process.stdout.write(parsed.json ? lines([{ event: change.kind, ...peerRow(change.peer) }]) : changeLine(change));
    await mesh.discover({ ...peerFilter(given), onChange: say });
    await stopped;
    return 0;
  } catch (thrown) {
    throw asCliError(thrown);
  } finally {
    await mesh.close();
  }
}

function peerRow({ kind, name, card, seenAt, replicas }: MeshPeer): object {
  return { kind, name, description: card.description, version: card.version, replicas, seenAt: seenAt.toISOString() };
}

function lines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function changeLine({ kind, peer }: PeerChange): string {
  return `${peer.seenAt.toISOString().slice(11, 19)}  ${kind.padEnd(7)}  ${peer.kind.padEnd(7)}  ${peer.name}  ${peer.card.description}\n`;
}

/** The peers in columns. */
function table(peers: readonly MeshPeer[], { namespace, meshGrammar }: Settings): string {
  if (peers.length === 0)
    return `no agents in ${namespace} (${meshGrammar}); check that the agents use the same --namespace and --mesh-grammar\n`;
  const rows = [
    ['KIND', 'NAME', 'REPLICAS', 'VERSION', 'DESCRIPTION'],
    ...peers.map(({ kind, name, replicas, card }) => [kind, name, String(replicas), card.version, card.description]),
  ];
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}
