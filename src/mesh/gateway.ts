import { defineAgent, proxyAgent } from '#agents';
import type { A2AService, Agent, AgentCard, CallContext } from '#protocol';
import { withInlineFiles } from './artifacts/inline.ts';
import { withQuotedFiles } from './artifacts/quoted.ts';
import type { ArtifactService } from './artifacts/service.ts';
import type { MeshPeer, MeshRegistry } from './discovery/registry.ts';
import type { MeshCaller, Stop } from './grammars/grammar.ts';

/** Serves agents over HTTP: the handler of `createHandler`. */
export interface AgentHost {
  add(name: string, agent: Agent): unknown;
  remove(name: string): void;
}

/** Options of `openGateway`. */
export interface GatewayOptions {
  /** The agents on the mesh, from `mesh.discover()`. */
  readonly registry: MeshRegistry;
  /** Calls them, from `mesh.call({ kind: 'gateway', id })`. */
  readonly caller: MeshCaller;
  /** The HTTP handler that serves them. */
  readonly offering: AgentHost;
  /** Converts files between bytes and references. Absent: files are passed on unchanged. */
  readonly artifacts?: ArtifactService;
  /**
   * The mesh user of an HTTP principal. Default: `http:`, its tenant and its id, so that an HTTP caller
   * is never mistaken for a user of the mesh.
   */
  readonly userOf?: (principal: string, tenant: string) => string;
  /** Called when an agent joins, changes or leaves. */
  onChange?(kind: 'joined' | 'changed' | 'left', name: string): void;
}

/**
 * Offers every agent of the mesh over HTTP, also those that join later. Their tasks are stored by this
 * node's engine, so that streams, resuming and push notifications work with every agent. Returns a
 * function that stops this.
 *
 * ```ts
 * const stop = openGateway({ registry: await mesh.discover(), caller: await mesh.call({ kind: 'gateway', id: 'gw' }), offering: handler });
 * ```
 */
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

/**
 * How long a task waits for an agent that may be restarting. It is as long as all attempts of A2A over
 * MQTT take.
 */
const ACCEPT_MS_MAX = 50_000;

/** An agent of the mesh as an agent of this node's engine. */
export function meshAgent(name: string, card: AgentCard, options: Pick<GatewayOptions, 'caller' | 'artifacts' | 'userOf'>): Agent {
  const { caller, artifacts, userOf: nameOf = defaultMeshUser } = options;
  const userOf = ({ principal, tenant }: CallContext): string => nameOf(principal.id, tenant ?? '');
  const link = caller.link({ agent: name, card, userOf, acceptMsMax: ACCEPT_MS_MAX });
  const files: A2AService = artifacts === undefined ? link : withInlineFiles(link, artifacts, userOf);
  const read = caller.quoteReader?.(card);
  const service = read === undefined ? files : withQuotedFiles(files, { read, artifacts, userOf });
  return proxyAgent({ service, card: publicCard(card), isIdempotent: caller.recognisesRepeats(card), passesPrincipal: true });
}

/** The card without the addresses on the broker. */
function publicCard(card: AgentCard): AgentCard {
  return { ...card, supportedInterfaces: [], capabilities: { ...card.capabilities, streaming: true } };
}

/** The root agent of a gateway. It lists the agents of the mesh. */
export function directoryAgent(name: string, registry: MeshRegistry): Agent {
  return defineAgent({
    name,
    description: 'The gateway to a mesh of agents. It lists the agents that are online; each is at /agents/{name}.',
    run: () => {
      const agents = registry.peers().filter(({ kind }) => kind === 'agent');
      if (agents.length === 0) return 'No agents are on the mesh now.';
      return agents.map(({ name: agent, card }) => `${agent}: ${card.description}`).join('\n');
    },
  });
}

/**
 * The mesh user of an HTTP principal. It is unique for each tenant and principal, and can be a level of
 * an artifact's URI.
 */
export function defaultMeshUser(principal: string, tenant = ''): string {
  return tenant === '' ? `http:${levelOf(principal)}` : `http:${levelOf(tenant)}+${levelOf(principal)}`;
}

/** Contains no `+`, which separates tenant and principal. */
function levelOf(name: string): string {
  const plain = encodeURIComponent(name.toWellFormed()).replaceAll('~', '~7E').replaceAll('%3A', ':').replaceAll('%40', '@');
  return plain.replaceAll('%', '~').replaceAll('..', '.~2E');
}
