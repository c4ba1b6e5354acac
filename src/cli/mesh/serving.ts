import type { ArtifactService, Broker, BrokerOptions, ConfiguredGrammar, Mesh, MeshAgent, RequestTurns } from '#mesh';
import { BrokerError, joinMesh, samName } from '#mesh';
import type { Log, Settings } from '#server';
import { createMetrics, METRICS, pathName } from '#server';
import type { ConfiguredServer, FoundAgent, ServeConfiguredOptions } from '../../server/adapters/serve-configured.ts';
import { serveConfigured } from '../../server/adapters/serve-configured.ts';
import { artifactsFor } from './artifacts.ts';
import { asCliError, connectBroker } from './broker.ts';
import { configuredGrammar } from './grammar.ts';
import type { MeshNode } from './node.ts';
import { createMeshNode, nodeId, operatorView } from './node.ts';

/** Serves the agents over HTTP, and over a broker too if the settings name one. */
export async function serveOnMesh(
  found: readonly FoundAgent[],
  settings: Settings,
  configured: ServeConfiguredOptions,
): Promise<ConfiguredServer> {
  if (settings.mesh === undefined) return serveConfigured(found, settings, configured);
  const setup = await createMeshSetup(settings.mesh, settings, configured.log);
  const members = await membersFor(found, setup);
  const all = new Set([...members.values()].map(({ mesh }) => mesh));
  const each = (act: (mesh: Mesh) => Promise<unknown>): Promise<unknown> => Promise.all([...all].map(act));
  let started: ConfiguredServer | undefined;
  try {
    const { node, artifacts } = setup;
    const operator = await operatorOf(members, setup);
    all.add(operator.mesh);
    const brokers = new Set([operator, ...members.values()].map(({ broker }) => broker));
    const view = await operatorView(operator.mesh, { node, broker: operator.broker, ...(artifacts === undefined ? {} : { artifacts }) });
    const metrics = configured.metrics ?? createMetrics();
    metrics.gauge(METRICS.brokerConnected, () => [
      [[brokerName(setup.address)], Number([...brokers].every(({ isConnected }) => isConnected))],
    ]);
    const served = await serveConfigured(found, settings, {
      ...configured,
      metrics,
      mesh: view,
      replyPublisher: {
        publish: async (reply, signal) => {
          const { mesh } = members.get(reply.agent) ?? {};
          // An agent that is no longer served may still have replies in the outbox. They wait until it is served again.
          if (mesh === undefined) throw new BrokerError(`${reply.agent} is not on the broker`);
          await mesh.replyPublisher.publish(reply, signal);
        },
      },
    });
    started = served;
    for (const { name, card, service } of served.handler.agents) {
      const { mesh } = members.get(name) ?? {};
      const agent = { name, card, service };
      if (isBeside(setup) && served.turns !== undefined) await mesh?.serveBeside(agent, requestTurns(agent, served.turns, setup));
      else await mesh?.serve(agent);
    }
    return {
      ...served,
      close: async () => {
        await each((mesh) => mesh.stopServing()); // other replicas take new requests from now on
        await served.close();
        await setup.node.monitor.close();
        await each((mesh) => mesh.close());
      },
    };
  } catch (thrown) {
    await started?.close(); // a process whose port is open would not end
    await setup.node.monitor.close();
    await each((mesh) => mesh.close());
    throw asCliError(thrown);
  }
}

/** The broker's address without credentials. */
function brokerName(address: string): string {
  const url = URL.parse(address);
  return url === null ? 'broker' : `${url.protocol}//${url.host}`;
}

/** The connection of the operator's view. If each agent has a connection of its own, the view has one too. */
async function operatorOf(members: ReadonlyMap<string, Member>, setup: MeshSetup): Promise<Member> {
  const [first] = members.values();
  return first === undefined || (setup.configured.presenceOf !== undefined && !isBeside(setup))
    ? await joinAs(nodeId(setup.node), setup)
    : first;
}

/** Everything that is known before the first connection to the broker. */
export interface MeshSetup {
  readonly address: string;
  readonly settings: Settings;
  readonly configured: ConfiguredGrammar;
  readonly artifacts: ArtifactService | undefined;
  readonly node: MeshNode;
  readonly log: Log;
}

/** Checks the settings of the mesh. Does not connect to the broker yet. */
export async function createMeshSetup(address: string, settings: Settings, log: Log): Promise<MeshSetup> {
  const configured = configuredGrammar(address, settings);
  const artifacts = await artifactsFor(address, settings);
  return { address, settings, configured, artifacts, node: createMeshNode(address, settings, { grammar: configured.grammar, log }), log };
}

/** A connection to a mesh. */
export interface Member {
  readonly mesh: Mesh;
  readonly broker: Broker;
}

/**
 * Nodes on one database take turns to receive the requests to an agent. Where a name belongs to one process, a node with an instance name
 * has agents of its own.
 */
function isBeside({ settings, configured }: MeshSetup): boolean {
  const isOnDatabase = settings.store !== undefined && !settings.memory;
  return isOnDatabase && (configured.presenceOf === undefined || settings.meshInstance === undefined);
}

/** An MQTT broker keeps requests for this time if no node is there, for example while all of them restart. */
const SESSION_SECONDS = 300;

/** When this node receives the requests to an agent, and the connection for them. */
function requestTurns(
  agent: MeshAgent,
  turns: NonNullable<ConfiguredServer['turns']>,
  { address, settings, configured, node, log }: MeshSetup,
): RequestTurns {
  const { name, card } = agent;
  const options = configured.presenceOf?.({ name, card, process: node.instance }) ?? { clientId: `parley/${settings.namespace}/${name}` };
  return {
    isMine: () => turns.isMine(name),
    want: () => turns.want(name),
    isAlone: turns.isAlone,
    connect: async () => node.monitor.observe(await connectBroker(address, { ...options, sessionSeconds: SESSION_SECONDS, log })),
  };
}

/** The connection of each agent, by the agent's name: one for all, or one each, as the grammar needs. */
async function membersFor(found: readonly FoundAgent[], setup: MeshSetup): Promise<ReadonlyMap<string, Member>> {
  const { presenceOf } = setup.configured;
  const agents = found.map(({ agent }) => ({ name: 'service' in agent ? agent.name : pathName(agent.card.name), card: agent.card }));
  if (presenceOf === undefined || isBeside(setup)) {
    const one = await join(setup, setup.configured.callerOptions(nodeId(setup.node)), setup.node.instance);
    return new Map(agents.map(({ name }) => [name, one]));
  }
  const members = new Map<string, Member>();
  // Always random: it distinguishes this process from another one with the same configured names.
  const process = samName(crypto.randomUUID());
  try {
    for (const agent of agents) members.set(agent.name, await join(setup, presenceOf({ ...agent, process }), process));
    return members;
  } catch (thrown) {
    await Promise.all([...members.values()].map(({ mesh }) => mesh.close()));
    throw thrown;
  }
}

/** Joins the mesh to call and to listen, without serving agents. */
export async function joinAs(id: string, setup: MeshSetup): Promise<Member> {
  return await join(setup, setup.configured.callerOptions(id));
}

/** Connects to the broker and joins the mesh as this process. */
async function join(setup: MeshSetup, options: BrokerOptions, instance?: string): Promise<Member> {
  const { address, settings, configured, artifacts, node, log } = setup;
  const { namespace, meshScopes } = settings;
  const broker = node.monitor.observe(await connectBroker(address, { ...options, log }));
  const mesh = joinMesh({
    broker,
    namespace,
    grammar: configured.grammar,
    scopes: meshScopes,
    ...(instance === undefined ? {} : { instance }),
    ...(artifacts === undefined ? {} : { artifacts }),
    report: (what, cause) => log.warn(what, cause instanceof Error ? { reason: cause.message } : {}),
  });
  return { mesh, broker };
}
