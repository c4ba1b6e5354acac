import { createChatMemory } from '#bindings';
import type { Engine, EngineOptions } from '#engine';
import type { AdminHealth, AdminService, AgentCard } from '#protocol';
import { LOCAL_PRINCIPAL } from '#protocol';
import { AS_DECLARED, cardSecurityOf } from './access/authentication/card-security.ts';
import { createCapacity } from './access/limits/capacity.ts';
import type { AgentList, AgentListOptions } from './agents/agent-list.ts';
import { checkCommands, createAgentList, namedAgents } from './agents/agent-list.ts';
import { engineFor } from './agents/create-engine.ts';
import { extendedCards } from './agents/extended-cards.ts';
import type { MeshAgents } from './agents/mesh-agents.ts';
import { meshAgents } from './agents/mesh-agents.ts';
import type { ServedAgent } from './agents/served-agent.ts';
import type { Audit } from './audit/audit.ts';
import { createAudit, NO_AUDIT } from './audit/audit.ts';
import { PROTOCOL_SETTINGS } from './config/table/network.ts';
import type { NodeLifecycle } from './lifecycle.ts';
import { startLifecycle } from './lifecycle.ts';
import type { ServerLimits } from './limits.ts';
import { DEFAULT_SERVER_LIMITS } from './limits.ts';
import { meter } from './observability/call-metrics.ts';
import { logCalls, recordCalls } from './observability/call-records.ts';
import type { Health } from './observability/health.ts';
import { createHealth } from './observability/health.ts';
import type { Log } from './observability/log.ts';
import { SILENT } from './observability/log.ts';
import { METRICS } from './observability/metric-table.ts';
import { createMetrics } from './observability/metrics.ts';
import type { Tracing } from './observability/tracing.ts';
import type { OpenStreams } from './open-streams.ts';
import { trackOpenStreams } from './open-streams.ts';
import type { HandlerOptions, McpMount, Quota } from './options.ts';
import type { DeliveryLog } from './push/delivery-log.ts';
import { createDeliveryLog } from './push/delivery-log.ts';
import { createSigner } from './push/signing-keys.ts';
import { agUiOptions, publicUrl, servingFor } from './routes/binding-options.ts';
import { createCards } from './routes/cards.ts';
import { RELAY_LIMITS } from './routes/console-relay.ts';
import type { RouteContext } from './routes/route-handlers.ts';
import type { TrafficRecorder } from './traffic/recorder.ts';
import { createTrafficRecorder } from './traffic/recorder.ts';

/** What a node is doing now. */
export interface NodeActivity {
  /** Turns that work. */
  readonly running: number;
  /** Turns that wait for a free slot. */
  readonly queued: number;
  /** Runs that wait for an answer of their caller. */
  readonly asking: number;
  /** Open streams. */
  readonly streams: number;
}

/**
 * The parts of a running node: its agents, the engine below them, and its records (log, metrics, audit
 * log, traffic).
 */
export interface ServedNode extends NodeLifecycle, Pick<AgentList, 'add' | 'remove'> {
  /** What the route handlers need. */
  readonly routing: RouteContext;
  readonly openStreams: OpenStreams;
  readonly log: Log;
  readonly limits: ServerLimits;
  readonly audit: Audit;
  readonly health: Health;
  readonly traffic: TrafficRecorder;
  activity(): NodeActivity;
}

/** Creates the parts of a node from its options, connects them, and starts the engine. */
export function assembleNode(options: HandlerOptions): ServedNode {
  const limits: ServerLimits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  const { log = SILENT, metrics = createMetrics(), callerCounts: counts } = options;
  const [tracing, openStreams, changed]: [Tracing, OpenStreams, Date] = [{ recorder: undefined }, trackOpenStreams(), new Date()];
  const given = namedAgents(options);
  checkCommands(given, options);
  const audit = options.audit === undefined ? NO_AUDIT : createAudit(options.audit);
  const security = options.authenticate === undefined ? cardSecurityOf(options.auth ?? []) : AS_DECLARED;
  const extended = extendedCards(options, given, log);
  const cards = createCards({
    form: options.card ?? PROTOCOL_SETTINGS.card.default,
    ageMsMax: limits.cardAgeMsMax,
    changed,
    security,
    signer: options.signer,
    grpc: options.grpc ?? false,
    hidesExtended: extended.isUnmentioned,
  });
  const where = publicUrl(options.url);
  // The first agent is served at the root and at /agents/{name}; its card names the root.
  const baseOf = (name: string): string => `${where.base()}${name === list.agents[0]?.name ? '' : `/agents/${name}`}`;
  const [signer, quotaOf, deliveryLog] = [createSigner(options.keys?.signing), options.quotaOf ?? quotaBy(limits), createDeliveryLog()];
  const completed = (card: AgentCard, name: string): AgentCard => cards.cardAt(card, baseOf(name));
  const onEnded = isOpenNode(options) ? undefined : endRecorder(audit);
  const engine = engineFor(given, {
    options: { ...options, quotaOf },
    ...{ metrics, log, tracing, signer, deliveryLog, limits },
    completed,
    extended,
    onEnded,
    onErase: () => clearAll(traffic, deliveryLog),
  });
  const capacity = createCapacity({ streamsMax: limits.streamsMax, isOverloaded: options.isOverloaded, quotaOf, metrics, counts });
  const list = createAgentList(given, { engine, measure: measuring(meter(metrics, capacity), options, log), audit, options });
  const { agents } = list;
  metrics.gauge(METRICS.streamsOpen, () => openStreams.count);
  const [health, traffic] = [createHealth(metrics, aboutNode(options)), createTrafficRecorder()];
  const lifecycle = startLifecycle({ options, engine, agents, log, limits, tracing, audit });
  list.onAdded(lifecycle.trace);
  const mesh = options.mesh && meshAgents(options.mesh, list.make, (name) => agents.some((agent) => agent.name === name));
  const routing: RouteContext = {
    agents,
    cards,
    admin: adminOf(engine, options, { log, health, traffic, mesh, deliveryLog }),
    adminOf: (tenant) => engine?.adminOf(tenant),
    onMesh: (name) => mesh?.find(name),
    ...{ metrics, log, metricsText: options.metricsText },
    jwks: signer.jwks,
    baseOf: where.of,
    noteBase: where.note,
    serving: servingFor({ options, limits, log, cardAt: (card, place) => cards.cardAt(card, `${where.base()}${place.base}`) }),
    publisher: options.publisher ?? PROTOCOL_SETTINGS.publisher.default,
    changed,
    cardAgeMsMax: limits.cardAgeMsMax,
    ...{ console: options.console, docs: options.docs },
    relay: options.relay ?? options.outbound?.fetchWithin(RELAY_LIMITS),
    agUi: agUiOptions(options, limits),
    chats: createChatMemory(),
    bodyBytesMax: limits.bodyBytesMax,
    mcp: options.mcp && mountedOnce(options.mcp),
    phase: lifecycle.phase,
    isBroken: () => engine?.stats().isBroken ?? false,
    storeProblem: options.storeProblem,
    replicaState: options.replicaState,
  };
  const { add, remove } = list;
  const activity = (): NodeActivity => activityOf(engine, openStreams.count);
  return Object.assign(lifecycle, { routing, openStreams, log, limits, audit, health, traffic, add, remove, activity });
}

/** Recorded traffic and deliveries may be of the caller whose data is erased. They are in memory only. */
function clearAll(traffic: TrafficRecorder, deliveryLog: DeliveryLog): void {
  traffic.clear();
  deliveryLog.clear();
}

function activityOf(engine: Engine | undefined, streams: number): NodeActivity {
  const { running = 0, queued = 0, asking = 0 } = engine?.stats() ?? {};
  return { running: running - asking, queued, asking, streams };
}

/** Without authentication there is one caller, `local`, and the audit log has no record of its work. */
function isOpenNode({ auth, authenticate }: HandlerOptions): boolean {
  return auth === undefined && authenticate === undefined;
}

/** The audit log has a record of each task that was admitted, and one of its end. */
function endRecorder(audit: Audit): NonNullable<EngineOptions['onEnded']> {
  return ({ id, agent, owner: { principal, tenant } }, state) =>
    audit.record({
      principal,
      tenant: tenant === '' ? undefined : tenant,
      action: 'task.end',
      object: id,
      agent,
      decision: 'allowed',
      reason: state,
    });
}

function measuring(measure: AgentListOptions['measure'], { onCall }: HandlerOptions, log: Log): AgentListOptions['measure'] {
  const recorder = onCall === undefined ? logCalls(log) : { onCall };
  return (service, agent) => recordCalls(measure(service, agent), agent, recorder);
}

/** Creates the MCP handler of the whole node, and that of each agent, on first use and after an agent was replaced. */
function mountedOnce(mount: McpMount): McpMount {
  const made = new Map<string, { readonly agents: readonly ServedAgent[]; readonly mounted: ReturnType<McpMount> }>();
  return (agents) => {
    const name = agents.map((agent) => agent.name).join('/');
    const known = made.get(name);
    if (known?.agents.every((agent, at) => agent === agents[at]) === true) return known.mounted;
    const mounted = mount([...agents]);
    made.set(name, { agents: [...agents], mounted });
    return mounted;
  };
}

/**
 * Stands for everybody who is not authenticated: at this node, or at a gateway that calls it over a broker
 * (docs/mesh.md). The limits of the node hold them back together.
 */
function isAnyone(principal: string): boolean {
  return principal === LOCAL_PRINCIPAL.id || (principal.startsWith('mesh:') && principal.endsWith(`:http:${LOCAL_PRINCIPAL.id}`));
}

/** The same quota for every principal that is one caller. */
function quotaBy({ callerTasksMax, callerStreamsMax }: ServerLimits): (principal: string) => Quota | undefined {
  const quota: Quota = {
    ...(callerTasksMax === 0 ? {} : { runningTasksMax: callerTasksMax }),
    ...(callerStreamsMax === 0 ? {} : { streamsMax: callerStreamsMax }),
  };
  return (principal) => (isAnyone(principal) ? undefined : quota);
}

interface AdminParts extends Pick<ServedNode, 'log' | 'health' | 'traffic'> {
  readonly mesh: MeshAgents | undefined;
  readonly deliveryLog: DeliveryLog;
}

/**
 * The engine's admin service with the parts that only the server knows: health, traffic, mesh, audit
 * log and log lines.
 */
function adminOf(
  engine: Engine | undefined,
  { audit, backups, storeFiles, replicas }: HandlerOptions,
  { log, health, traffic, mesh, deliveryLog }: AdminParts,
): AdminService | undefined {
  if (engine === undefined) return undefined;
  return {
    ...engine.admin,
    delete: async (id) => {
      await engine.admin.delete(id);
      deliveryLog.clear(id);
    },
    attempts: deliveryLog.shown,
    health: health.shown,
    wire: traffic,
    ...(mesh === undefined ? {} : { mesh: mesh.shown }),
    ...(backups === undefined ? {} : { backups }),
    ...(replicas === undefined ? {} : { replicas }),
    ...(storeFiles === undefined ? {} : { store: storeFiles }),
    ...(audit === undefined ? {} : { audit: (request) => audit.read(request) }),
    ...(log.recent === undefined ? {} : { logs: ({ after = 0, limit = 1000 }) => log.recent?.(after, limit) ?? [] }),
  };
}

/** What the console shows about the node. */
function aboutNode({ version = '', docs, traceUrl }: HandlerOptions): Pick<AdminHealth, 'version' | 'docs' | 'traceUrl'> {
  return { version, ...(docs === undefined ? {} : { docs: '/docs/' }), ...(traceUrl === undefined ? {} : { traceUrl }) };
}
