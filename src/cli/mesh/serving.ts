import type { ArtifactService, Broker, BrokerOptions, ConfiguredGrammar, Mesh } from '#mesh';
import { BrokerError, joinMesh, samName } from '#mesh';
import type { Log, Settings } from '#server';
import { pathName } from '#server';
import type { ConfiguredServer, FoundAgent, ServeConfiguredOptions } from '../../server/adapters/serve-configured.ts';
import { serveConfigured } from '../../server/adapters/serve-configured.ts';
import { artifactsFor } from './artifacts.ts';
import { asCliError, connectBroker } from './broker.ts';
import { configuredGrammar } from './grammar.ts';
import type { Sight } from './view.ts';
import { nodeId, sightOn, viewOf } from './view.ts';

/** Serves as configured; and on a broker too, if one is configured. */
export async function serveOnMesh(
  found: readonly FoundAgent[],
  settings: Settings,
  configured: ServeConfiguredOptions,
): Promise<ConfiguredServer> {
  if (settings.mesh === undefined) return serveConfigured(found, settings, configured);
  const way = await wayTo(settings.mesh, settings, configured.log);
  const members = await membersFor(found, way);
  const all = new Set([...members.values()].map(({ mesh }) => mesh));
  const each = (act: (mesh: Mesh) => Promise<unknown>): Promise<unknown> => Promise.all([...all].map(act));
  try {
    const { sight, artifacts } = way;
    const operator = await operatorOf(members, way);
    all.add(operator.mesh);
    const view = await viewOf(operator.mesh, { sight, broker: operator.broker, ...(artifacts === undefined ? {} : { artifacts }) });
    const served = await serveConfigured(found, settings, {
      ...configured,
      mesh: view,
      replyPublisher: {
        publish: async (reply, signal) => {
          const { mesh } = members.get(reply.agent) ?? {};
          // An agent that is served no more may have answers that are still to go out; they wait until it is.
          if (mesh === undefined) throw new BrokerError(`${reply.agent} is not on the broker`);
          await mesh.replyPublisher.publish(reply, signal);
        },
      },
    });
    for (const { name, card, service } of served.handler.agents) await members.get(name)?.mesh.serve({ name, card, service });
    return {
      ...served,
      close: async () => {
        await each((mesh) => mesh.stopServing()); // others take what comes from now on
        await served.close();
        await way.sight.monitor.close();
        await each((mesh) => mesh.close());
      },
    };
  } catch (thrown) {
    await each((mesh) => mesh.close());
    throw asCliError(thrown);
  }
}

/** For those who look. Where each agent has a connection of its own, they have one, too. */
async function operatorOf(members: ReadonlyMap<string, Member>, way: Way): Promise<Member> {
  const [first] = members.values();
  return first === undefined || way.configured.presenceOf !== undefined ? await joinAs(nodeId(way.sight), way) : first;
}

/** Everything that is settled before anybody connects. */
export interface Way {
  readonly address: string;
  readonly settings: Settings;
  readonly configured: ConfiguredGrammar;
  readonly artifacts: ArtifactService | undefined;
  readonly sight: Sight;
  readonly log: Log;
}

export async function wayTo(address: string, settings: Settings, log: Log): Promise<Way> {
  const configured = configuredGrammar(address, settings);
  const artifacts = await artifactsFor(address, settings);
  return { address, settings, configured, artifacts, sight: sightOn(address, settings, { grammar: configured.grammar, log }), log };
}

/** A connection to a mesh. */
export interface Member {
  readonly mesh: Mesh;
  readonly broker: Broker;
}

/** The mesh of each agent, by the name that the node has for it: one for all, or a connection each. */
async function membersFor(found: readonly FoundAgent[], way: Way): Promise<ReadonlyMap<string, Member>> {
  const { presenceOf } = way.configured;
  const agents = found.map(({ agent }) => ({ name: 'service' in agent ? agent.name : pathName(agent.card.name), card: agent.card }));
  if (presenceOf === undefined) {
    const one = await join(way, {}, way.sight.instance);
    return new Map(agents.map(({ name }) => [name, one]));
  }
  const members = new Map<string, Member>();
  // Always random: it distinguishes this process from another one with the same configured names.
  const process = samName(crypto.randomUUID());
  try {
    for (const agent of agents) members.set(agent.name, await join(way, presenceOf({ ...agent, process }), process));
    return members;
  } catch (thrown) {
    await Promise.all([...members.values()].map(({ mesh }) => mesh.close()));
    throw thrown;
  }
}

/** For those who call and listen, and serve nothing. */
export async function joinAs(id: string, way: Way): Promise<Member> {
  return await join(way, way.configured.callerOptions(id));
}

async function join(way: Way, options: BrokerOptions, instance?: string): Promise<Member> {
  const { address, settings, configured, artifacts, sight, log } = way;
  const { namespace, meshScopes } = settings;
  const broker = sight.monitor.observe(await connectBroker(address, { ...options, log }));
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
