import { defineAgent, proxyAgent } from '#agents';
import type { A2AService, Agent, AgentCard, CallContext } from '#protocol';
import { defaultMeshUser, withInlineFiles } from './artifacts/inline.ts';
import type { ArtifactService } from './artifacts/service.ts';
import type { MeshPeer, MeshRegistry } from './discovery/registry.ts';
import type { MeshCaller, Stop } from './grammars/grammar.ts';
import { SAM_EXTENSIONS } from './grammars/sam/cards.ts';

/** Where agents are offered to those outside: a handler of the server room. */
export interface AgentHost {
  add(name: string, agent: Agent): unknown;
  remove(name: string): void;
}

export interface GatewayOptions {
  readonly registry: MeshRegistry;
  readonly caller: MeshCaller;
  readonly offering: AgentHost;
  readonly artifacts?: ArtifactService;
  /** The user of the mesh that a principal of HTTP is. Default: `http:` and its id, so that nobody outside is taken for somebody inside. */
  readonly userOf?: (principal: string) => string;
  /** Told when an agent comes or goes. */
  onChange?(kind: 'joined' | 'changed' | 'left', name: string): void;
}

/** Offers every agent of the mesh as one of our own: kept on our engine, so that it streams, resumes and pushes whatever it does by itself. */
export function openGateway(options: GatewayOptions): Stop {
  const { registry, offering, onChange } = options;
  const offer = (peer: MeshPeer): void => {
    if (peer.kind === 'agent') offering.add(peer.name, meshAgent(peer.name, peer.card, options));
  };
  for (const peer of registry.peers()) offer(peer);
  const stop = registry.onChange(({ kind, peer }) => {
    if (peer.kind !== 'agent') return;
    if (kind === 'left') offering.remove(peer.name);
    else offer(peer);
    onChange?.(kind, peer.name);
  });
  return async () => stop();
}

/** An agent that is not there just now may be on its way back, as this gateway may have been: its tasks wait so long for it, which is as long as the
 * attempts of A2A over MQTT take. */
const ACCEPT_MS_MAX = 50_000;

export function meshAgent(name: string, card: AgentCard, options: Pick<GatewayOptions, 'caller' | 'artifacts' | 'userOf'>): Agent {
  const { caller, artifacts, userOf: nameOf = defaultMeshUser } = options;
  const userOf = ({ principal }: CallContext): string => nameOf(principal.id);
  const link = caller.link({ agent: name, userOf, acceptMsMax: ACCEPT_MS_MAX });
  const service: A2AService = artifacts === undefined ? link : withInlineFiles(link, artifacts, userOf);
  return proxyAgent({ service, card: outsideCard(card), isIdempotent: true, passesPrincipal: true });
}

/** As it is read outside: under the name that people know it by, and without what is about topics. */
function outsideCard(card: AgentCard): AgentCard {
  const display = card.capabilities.extensions?.find(({ uri }) => uri === SAM_EXTENSIONS.displayName)?.params?.['display_name'];
  const extensions = (card.capabilities.extensions ?? []).filter(({ uri }) => !uri.endsWith('/sam/deployment'));
  return {
    ...card,
    name: typeof display === 'string' && display !== '' ? display : card.name,
    supportedInterfaces: [],
    capabilities: { ...card.capabilities, streaming: true, extensions },
  };
}

/** The root agent of a gateway: says who is there. */
export function directoryAgent(name: string, registry: MeshRegistry): Agent {
  return defineAgent({
    name,
    description: 'The gateway to a mesh of agents. Ask it for the agents that are there now; each is at /agents/{name}.',
    run: () => {
      const agents = registry.peers().filter(({ kind }) => kind === 'agent');
      if (agents.length === 0) return 'No agents are on the mesh now.';
      return agents.map(({ name: agent, card }) => `${agent}: ${card.description}`).join('\n');
    },
  });
}
