import { createChatMemory } from '#bindings';
import type { Engine } from '#engine';
import type { AdminService, Agent, AgentCard, Mutable } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import { AS_DECLARED, cardSecurityOf } from './access/authentication/card-security.ts';
import { authorise } from './access/authorisation/authorise.ts';
import { createCapacity } from './access/limits/capacity.ts';
import { engineFor } from './agents/create-engine.ts';
import type { MeshAgents } from './agents/mesh-agents.ts';
import { meshAgents } from './agents/mesh-agents.ts';
import type { AgentLike, ServedAgent } from './agents/served-agent.ts';
import { isServed, named } from './agents/served-agent.ts';
import type { Audit } from './audit/audit.ts';
import { createAudit, NO_AUDIT } from './audit/audit.ts';
import type { Lifecycle } from './lifecycle.ts';
import { startLifecycle } from './lifecycle.ts';
import type { ServerLimits } from './limits.ts';
import { DEFAULT_SERVER_LIMITS } from './limits.ts';
import { meter } from './observability/call-metrics.ts';
import type { Health } from './observability/health.ts';
import { createHealth } from './observability/health.ts';
import type { Log } from './observability/log.ts';
import { SILENT } from './observability/log.ts';
import { createMetrics } from './observability/metrics.ts';
import type { Tracing } from './observability/tracing.ts';
import type { OpenStreams } from './open-streams.ts';
import { trackOpenStreams } from './open-streams.ts';
import type { HandlerOptions, McpMount, Quota } from './options.ts';
import { createSigner } from './push/signing-keys.ts';
import { publicUrl, servingFor } from './routes/binding-options.ts';
import { createCards } from './routes/cards.ts';
import { RELAY_LIMITS } from './routes/console-relay.ts';
import type { RouteContext } from './routes/route-handlers.ts';
import type { TrafficRecorder } from './traffic/recorder.ts';
import { createTrafficRecorder } from './traffic/recorder.ts';

/** A node: agents, the engine under those that need one, and everything that is counted and said about them. */
export interface Node extends Lifecycle {
  /** Serves another agent from now on, or another one under the name. */
  add(name: string, agent: Agent): ServedAgent;
  /** It is not served any more; its tasks are kept. The root agent stays. */
  remove(name: string): void;
  readonly site: RouteContext;
  readonly flows: OpenStreams;
  readonly log: Log;
  readonly limits: ServerLimits;
  readonly audit: Audit;
  readonly health: Health;
  readonly wire: TrafficRecorder;
}

const DEFAULT_PUBLISHER = 'agent.localhost';

export function assembleNode(options: HandlerOptions): Node {
  const limits: ServerLimits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  const { log = SILENT, metrics = createMetrics() } = options;
  const tracing: Tracing = { recorder: undefined };
  const flows = trackOpenStreams();
  const changed = new Date();
  const given = withKnown(named(listOf(options.agents)), options.known);
  checkCommands(given, options);
  const [root] = given.keys();
  const audit = options.audit === undefined ? NO_AUDIT : createAudit(options.audit);
  const enforced = options.gate === undefined ? cardSecurityOf(options.auth ?? []) : AS_DECLARED;
  const cards = createCards({ form: options.card ?? 'superset', ageMsMax: limits.cardAgeMsMax, changed, enforced, signer: options.signer });
  const where = publicUrl(options.url);
  // The first agent is at the root too, and that is its better address.
  const baseOf = (name: string): string => `${where.base()}${name === root ? '' : `/agents/${name}`}`;
  const quotaOf = options.quotaOf ?? quotaBy(limits);
  const signer = createSigner(options.keys?.signing);
  const completed = (card: AgentCard, name: string): AgentCard => cards.cardAt(card, baseOf(name));
  const engine = engineFor(given, { options: { ...options, quotaOf }, metrics, log, tracing, signer, limits, completed });
  const room = createCapacity({ streamsMax: limits.streamsMax, isPressed: options.isPressed, quotaOf, metrics });
  const serving: Serving = { engine, count: meter(metrics, room), audit, hasWebhooks: options.outbound !== undefined };
  const agents = [...given].map(([name, agent]) => servedAgent(name, agent, serving));
  metrics.gauge({ name: 'parley_streams_open', help: 'Streams that are being read.' }, () => flows.open);
  const [health, wire] = [createHealth(metrics, options.version ?? ''), createTrafficRecorder()];
  const life = startLifecycle({ options, engine, agents, log, limits, tracing, audit });
  const going = comingAndGoing(agents, { ...serving, options, adopt: life.adopt });
  const onMesh = options.mesh && meshAgents(options.mesh, going.make, (name) => agents.some((agent) => agent.name === name));
  const site: RouteContext = {
    agents,
    cards,
    admin: adminOf(engine, options, { log, health, wire, onMesh }),
    onMesh: (name) => onMesh?.find(name),
    metrics,
    jwks: signer.jwks,
    baseOf: where.of,
    noteBase: where.note,
    serving: servingFor({ options, limits, log, cardAt: (card, place) => cards.cardAt(card, `${where.base()}${place.base}`) }),
    publisher: options.publisher ?? DEFAULT_PUBLISHER,
    changed,
    cardAgeMsMax: limits.cardAgeMsMax,
    console: options.console,
    relay: options.relay ?? options.outbound?.fetchWithin(RELAY_LIMITS),
    chats: createChatMemory(),
    bodyBytesMax: limits.bodyBytesMax,
    mcp: options.mcp === undefined ? undefined : mountedOnce(options.mcp),
    phase: life.phase,
    isBroken: () => engine?.stats().isBroken ?? false,
  };
  const { add, remove } = going;
  return Object.assign(life, { site, flows, log, limits, audit, health, wire, add, remove });
}

/** One handler for the whole node and one for each agent, made when they are first asked. */
function mountedOnce(mount: McpMount): McpMount {
  const made = new Map<string, ReturnType<McpMount>>();
  return (agents) => {
    const name = agents.map((agent) => agent.name).join('/');
    const known = made.get(name) ?? mount(agents);
    made.set(name, known);
    return known;
  };
}

function listOf(agents: AgentLike | readonly AgentLike[]): readonly AgentLike[] {
  return Array.isArray(agents) ? (agents as readonly AgentLike[]) : [agents as AgentLike];
}

/** The first stays the first, and nobody takes a name that is taken. */
function withKnown(given: ReadonlyMap<string, AgentLike>, known: HandlerOptions['known']): ReadonlyMap<string, AgentLike> {
  return new Map([...given, ...[...(known ?? [])].filter(([name]) => !given.has(name))]);
}

interface Serving {
  readonly engine: Engine | undefined;
  readonly count: ReturnType<typeof meter>;
  readonly audit: Audit;
  readonly hasWebhooks: boolean;
}

function servedAgent(name: string, agent: AgentLike, { engine, count, audit, hasWebhooks }: Serving): Mutable<ServedAgent> {
  const service = isServed(agent) ? agent.service : engine?.serviceOf(name);
  if (service === undefined) throw new Error('an agent needs an engine');
  const card = hasWebhooks || isServed(agent) ? agent.card : withoutWebhooks(agent.card);
  const target = { agent: name, runsCommands: agent.runsCommands === true };
  return { name, card, service: authorise(count(service, name), target, audit) };
}

/** Agents that come and go while the node serves. The list is one, and everybody looks at it. */
function comingAndGoing(
  agents: Mutable<ServedAgent>[],
  { adopt, options, ...serving }: Serving & Pick<Lifecycle, 'adopt'> & { readonly options: HandlerOptions },
): Pick<Node, 'add' | 'remove'> & { make(name: string, agent: Agent): ServedAgent } {
  const parsePath = (name: string): number => agents.findIndex((agent) => agent.name === name);
  const make = (name: string, agent: Agent): Mutable<ServedAgent> => {
    if (serving.engine === undefined) throw new Error('an agent needs an engine');
    checkCommands(new Map([[name, agent]]), options);
    serving.engine.add(name, agent);
    const served = servedAgent(name, agent, serving);
    adopt(served);
    return served;
  };
  return {
    make,
    add: (name, agent) => {
      const served = make(name, agent);
      const at = parsePath(name);
      if (at === -1) agents.push(served);
      else agents[at] = served;
      return served;
    },
    remove: (name) => {
      const at = parsePath(name);
      if (at > 0) agents.splice(at, 1);
    },
  };
}

/** A card promises what is kept. */
function withoutWebhooks(card: AgentCard): AgentCard {
  return { ...card, capabilities: { ...card.capabilities, pushNotifications: false } };
}

/** What each caller may have at once, the owner of the machine aside. */
function quotaBy({ callerTasksMax, callerStreamsMax }: ServerLimits): (principal: string) => Quota | undefined {
  const quota: Quota = {
    ...(callerTasksMax === 0 ? {} : { runningTasksMax: callerTasksMax }),
    ...(callerStreamsMax === 0 ? {} : { streamsMax: callerStreamsMax }),
  };
  return (principal) => (principal === LOCAL_PRINCIPAL.id ? undefined : quota);
}

/** Decision 11. Whoever serves on a socket of their own file system says so with a gate. */
function checkCommands(given: ReadonlyMap<string, AgentLike>, { auth, gate }: HandlerOptions): void {
  if (auth !== undefined || gate !== undefined) return;
  const [name] = [...given].find(([, agent]) => agent.runsCommands === true) ?? [];
  if (name === undefined) return;
  throw new TypeError(
    `${name} runs commands on this machine, and without \`auth\` whoever reaches it gives them. Give \`auth\`, or a \`gate\`.`,
  );
}

function adminOf(
  engine: Engine | undefined,
  { audit }: HandlerOptions,
  { log, health, wire, onMesh }: Pick<Node, 'log' | 'health' | 'wire'> & { readonly onMesh: MeshAgents | undefined },
): AdminService | undefined {
  if (engine === undefined) return undefined;
  return {
    ...engine.admin,
    health: health.shown,
    wire,
    ...(onMesh === undefined ? {} : { mesh: onMesh.shown }),
    ...(audit === undefined ? {} : { audit: (request) => audit.read(request) }),
    ...(log.recent === undefined ? {} : { logs: ({ after = 0, limit = 1000 }) => log.recent?.(after, limit) ?? [] }),
  };
}
