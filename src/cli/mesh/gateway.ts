import { join } from 'node:path';
import { createCard } from '#agents';
import type { GatewayOptions, MeshRegistry } from '#mesh';
import { directoryAgent, meshAgent, meshView, openGateway } from '#mesh';
import type { AgentCard } from '#protocol';
import type { Log, Metrics, Settings } from '#server';
import { dataHome, folderFor } from '../../server/adapters/data-folder.ts';
import type { ConfiguredServer } from '../../server/adapters/serve-configured.ts';
import { logFor } from '../../server/adapters/serve-configured.ts';
import type { Command } from '../command.ts';
import { CliError } from '../command.ts';
import { helpFor } from '../flags/help.ts';
import { argumentsOf, parse, textOf } from '../flags/parse.ts';
import type { CommandSpec } from '../flags/spec.ts';
import { countErrorLines, outliveReader } from '../output/closed-pipe.ts';
import { readServeFlags, serveFlags } from '../serve/flags.ts';
import { lameDuck, reloadOnHangUp, untilSignal } from '../serve/signals.ts';
import { metricsWith, mountMcp, ownPages, settingsFor, startServing } from '../serve.ts';
import { asCliError } from './broker.ts';
import { brokerOf, MESH_FLAGS, peerFilter } from './flags.ts';
import type { GatewayState } from './gateway-state.ts';
import { openGatewayState } from './gateway-state.ts';
import { createMeshSetup, joinAs, type Member, type MeshSetup } from './serving.ts';

/** The name of the root agent. No agent of the mesh is offered under it. */
const ROOT = 'gateway';

const SPEC: CommandSpec = {
  name: 'mesh gateway',
  summary: 'offer every agent of the mesh over HTTP, in every version and dialect, at /agents/{name}/.',
  args: [],
  details: `Agents are offered while they are on the mesh. To put agents on the mesh: parley serve AGENT --mesh URL, or
parley proxy URL --mesh URL for one that speaks HTTP.`,
  flags: [
    ...MESH_FLAGS,
    {
      name: 'id',
      kind: 'text',
      value: 'NAME',
      default: 'the last one used; at first a random one',
      doc: 'The name of the gateway on the mesh.',
    },
    ...serveFlags(['Coding agents and commands']),
  ],
  examples: ['parley mesh gateway --broker nats://127.0.0.1:4222 --port 8080'],
  exits: "0 stopped by a signal; 1 the broker can't be reached; 2 wrong call.",
};

export const gatewayCommand: Command = { name: 'gateway', help: helpFor(SPEC), spec: SPEC, run: gateway };

/** Reads flags and settings, joins the mesh, and serves it until the process is stopped. */
async function gateway(args: readonly string[]): Promise<number> {
  const given = parse(SPEC, args);
  argumentsOf(given);
  const parsed = readServeFlags(given);
  const { mesh: configured, ...rest } = await settingsFor(parsed);
  const broker = brokerOf(given, { ...rest, mesh: configured });
  const named = textOf(given, 'id');
  if (named !== undefined && !/^[A-Za-z0-9_]{1,64}$/.test(named))
    throw new CliError(`--id ${named}: use letters, digits and _ only`, { exit: 2 });
  const host = URL.parse(broker)?.host ?? broker;
  const source = `${rest.namespace}/mesh-gateway-${named ?? host}`;
  // Gateways to different meshes may run side by side, so each has a folder of its own.
  const data = rest.data ?? join(dataHome(process.env, process.platform), folderFor([source]));
  const settings: Settings = { ...rest, mesh: undefined, data };
  const live = { log: settings.log, a2a: settings.a2a, token: settings.token, lameDuckMs: settings.lameDuckMs };
  const lines = countErrorLines();
  const log = logFor(live, { write: lines.write });
  outliveReader();
  const readAgain = async (): Promise<Settings> => ({ ...(await settingsFor(parsed, true)), mesh: undefined, data });
  const state = openGatewayState(settings.memory ? undefined : data);
  const id = named ?? state.id ?? `gateway_${crypto.randomUUID().slice(0, 8)}`;
  if (state.id !== undefined && state.id !== id)
    log.warn(`this gateway was called ${state.id} before; it does not receive replies to that name`);
  const setup = await createMeshSetup(broker, settings, log);
  const member = await joinAs(id, setup);
  try {
    return await run({
      ...member,
      setup,
      id,
      source,
      state,
      settings,
      log,
      rules: peerFilter(given),
      json: parsed.json,
      host,
      live,
      readAgain,
      metrics: metricsWith(lines),
    });
  } catch (thrown) {
    throw asCliError(thrown);
  } finally {
    await setup.node.monitor.close();
    await member.mesh.close();
  }
}

interface GatewayRun extends Member {
  readonly setup: MeshSetup;
  readonly id: string;
  readonly source: string;
  readonly state: GatewayState;
  readonly settings: Settings;
  readonly log: Log;
  readonly rules: ReturnType<typeof peerFilter>;
  readonly json: boolean;
  readonly host: string;
  /** What a reload replaces. */
  readonly live: Pick<Settings, 'log' | 'lameDuckMs'>;
  readonly readAgain: () => Promise<Settings>;
  readonly metrics: Metrics;
}

/** Serves every agent of the mesh at `/agents/NAME/`, also those that join later. */
async function run(gatewayRun: GatewayRun): Promise<number> {
  const { mesh, broker, setup, id, source, state, settings, log, metrics, rules, json } = gatewayRun;
  const pools = settings.meshPools;
  const before = state.peers.filter(({ name }) => !pools.includes(name));
  const known = before.filter(({ isHere }) => isHere);
  const registry = await mesh.discover({ ...rules, deny: [...(rules.deny ?? []), ROOT, ...pools], known, onChange: state.record });
  const caller = await mesh.call({ kind: 'gateway', id });
  const peerCalls = { caller, ...(setup.artifacts === undefined ? {} : { artifacts: setup.artifacts }) };
  const broken = Promise.withResolvers<number>();
  const root = directoryAgent(ROOT, registry);
  const served = await startServing([{ agent: root, source }], settings, {
    log,
    metrics,
    onBroken: () => broken.resolve(1),
    mcp: mountMcp,
    ...ownPages(log),
    mesh: meshView({ ...setup.node, ...peerCalls, registry, broker, counts: mesh.counts, gateway: id }),
    // An agent that left the mesh for good has no other node that could continue its tasks.
    missingAgents: 'fail',
    // Given before the server recovers its tasks: it fails a task whose agent is unknown.
    known: new Map([
      ...before.map(({ name, card }) => [name, meshAgent(name, card, peerCalls)] as const),
      ...pools.map((pool) => [pool, meshAgent(`pool/${pool}`, poolCard(pool, settings), peerCalls)] as const),
    ]),
  });
  try {
    state.begin(id);
    for (const { name } of before) if (registry.agent(name) === undefined) served.handler.remove(name);
    return await offer({ ...gatewayRun, served, registry, peerCalls, root: root.card, broken: broken.promise });
  } finally {
    await served.close();
    if (json) process.stdout.write('{"event":"stopped"}\n');
  }
}

interface GatewayOffer extends GatewayRun {
  readonly served: ConfiguredServer;
  readonly registry: MeshRegistry;
  readonly peerCalls: Pick<GatewayOptions, 'caller' | 'artifacts'>;
  readonly root: AgentCard;
  readonly broken: Promise<number>;
}

/** Offers the agents of the mesh until a signal arrives. */
async function offer({
  mesh,
  setup,
  id,
  settings,
  log,
  json,
  host,
  served,
  registry,
  peerCalls,
  root,
  broken,
  live,
  readAgain,
}: GatewayOffer): Promise<number> {
  const stopped = untilSignal();
  if (setup.configured.grammar.announcesGateways) await mesh.announce({ kind: 'gateway', name: id, card: root });
  const say = (event: object, text: string): void => void process.stdout.write(json ? `${JSON.stringify(event)}\n` : `${text}\n`);
  say(
    { event: 'ready', url: served.url, agents: served.handler.agents.map(({ name }) => name), id },
    `Parley offers the agents of ${settings.namespace} at ${served.url}/agents/{name}/\n\nStop with Ctrl-C.\n`,
  );
  const close = openGateway({
    registry,
    ...peerCalls,
    offering: served.handler,
    onChange: (kind, name) =>
      say({ event: kind, agent: name, url: `${served.url}/agents/${name}` }, `${kind}: ${served.url}/agents/${name}/`),
  });
  try {
    log.info('on the mesh', { broker: host, namespace: settings.namespace, id });
    const onApplied = ({ log: level, lameDuckMs }: Settings): void => void Object.assign(live, { log: level, lameDuckMs });
    reloadOnHangUp({ served, log, read: readAgain, onApplied });
    const end = await Promise.race([stopped, broken]);
    await lameDuck(end, served, live.lameDuckMs);
    const code = typeof end === 'number' ? end : 0;
    if (json) process.stdout.write('{"event":"stopping"}\n');
    return code;
  } finally {
    await close();
  }
}

/** A pool announces no card; its members do. */
function poolCard(pool: string, { namespace }: Settings): AgentCard {
  return createCard({ name: pool, description: `One of the agents of the pool ${pool} of ${namespace}.` });
}
