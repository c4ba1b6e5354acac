import type { AroundRun, Engine, EngineOptions, LogEntry, Owner, ReportedTask, ReportFailure, RunningElsewhere } from '#engine';
import { createEngine, timeOrderedIds } from '#engine';
import type { Agent, AgentCard } from '#protocol';
import { A2AError, getTextFromMessage, LOCAL_PRINCIPAL } from '#protocol';
import { memoryStore } from '../../engine/adapters/memory.ts';
import { callerKey } from '../access/authentication/caller.ts';
import type { CallerCounts } from '../access/limits/caller-counts.ts';
import type { ServerLimits } from '../limits.ts';
import { meteredStore } from '../observability/call-metrics.ts';
import { engineMeter, showStats } from '../observability/engine-metrics.ts';
import type { Log } from '../observability/log.ts';
import { taskFields } from '../observability/log-fields.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import { tracedRuns } from '../observability/tracing.ts';
import type { HandlerOptions } from '../options.ts';
import type { DeliveryLog } from '../push/delivery-log.ts';
import { pushFor, showWebhooks } from '../push/push.ts';
import type { WebhookSigner } from '../push/signing-keys.ts';
import type { ExtendedCards } from './extended-cards.ts';
import type { AgentLike } from './served-agent.ts';
import { isServed } from './served-agent.ts';

/** With the memory store, finished tasks are kept for an hour. */
const MEMORY_FINISHED_MS = 3_600_000;

/** What `engineFor` needs. */
export interface EngineParts {
  readonly options: HandlerOptions;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly tracing: Tracing;
  /** Signs webhook deliveries. */
  readonly signer: WebhookSigner;
  readonly deliveryLog: DeliveryLog;
  readonly limits: ServerLimits;
  /** Fills in the URLs of the agent's interfaces. */
  readonly completed: (card: AgentCard, name: string) => AgentCard;
  readonly extended: ExtendedCards;
  /** Records the end of a task in the audit log. Undefined: nothing is recorded. */
  readonly onEnded?: EngineOptions['onEnded'] | undefined;
  /** Drops what the server has of callers in memory. */
  readonly onErase: () => void;
}

function runningElsewhere(counts: CallerCounts): RunningElsewhere {
  const keyOf = ({ principal, tenant }: Owner): string => callerKey({ principal: { id: principal, scopes: [] }, tenant });
  return {
    count: (owner) => counts.elsewhere('tasks', keyOf(owner)),
    changed: (owner, count) => {
      if (owner.principal !== LOCAL_PRINCIPAL.id) counts.hold('tasks', keyOf(owner), count);
    },
  };
}

const NO_DESCRIPTION = (name: string): string =>
  `agent ${name} has no description; clients and models choose agents by it, so write one: defineAgent({ description: '…' })`;

/** Creates one engine for all agents that need one. Undefined if every agent has its own service. */
export function engineFor(
  given: ReadonlyMap<string, AgentLike>,
  { options, metrics, log, tracing, signer, deliveryLog, limits, completed, extended, onEnded, onErase }: EngineParts,
): Engine | undefined {
  const own = [...given].filter((entry): entry is [string, Agent] => !isServed(entry[1]));
  if (own.length === 0) return undefined;
  const agents = Object.fromEntries(own);
  for (const [name, { card }] of own) if (card.description.trim() === '') log.warn(NO_DESCRIPTION(name));
  const { store, blobs, replyPublisher, idempotency, secret, onBroken, quotaOf, callerCounts, erasePeers } = options;
  const meter = engineMeter(metrics);
  const engine = createEngine({
    store: meteredStore(store ?? memoryStore(), metrics),
    agents,
    ids: timeOrderedIds(), // new ids sort last, so the store's index grows at its end
    ...pushFor({ options, signer, metrics, tracing, webhookMsMax: limits.webhookMsMax, deliveryLog }),
    limits: { ...(store === undefined ? { finishedMsMax: MEMORY_FINISHED_MS } : {}), ...options.limits },
    ...(quotaOf === undefined ? {} : { runningTasksMaxOf: (principal, tenant) => quotaOf(principal, tenant)?.runningTasksMax }),
    ...(erasePeers === undefined ? {} : { erasePeers }),
    onErase,
    ...(callerCounts === undefined ? {} : { runningElsewhere: runningElsewhere(callerCounts) }),
    ...(blobs === undefined ? {} : { blobs }),
    ...(replyPublisher === undefined ? {} : { replyPublisher }),
    ...(idempotency === undefined ? {} : { idempotency }),
    ...(secret === undefined ? {} : { secret }),
    ...(onBroken === undefined ? {} : { onBroken }),
    extendedCard: async (name, { principal }) => {
      if (extended.isHidden(agents[name]))
        throw new A2AError('UNSUPPORTED_OPERATION', 'this agent has no extended card for unknown callers');
      const card = await agents[name]?.extendedCard?.(principal);
      if (card === undefined) throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED');
      return completed(card, name);
    },
    aroundRun: options.aroundRun === undefined ? tracedRuns(tracing) : nested(options.aroundRun, tracedRuns(tracing)),
    report: reporting(log),
    ...meter,
    onCommitted: (row, entries, origin) => {
      meter.onCommitted(row, entries);
      sayFailed(log, entries, { ...row, origin });
    },
    onStalled: (cause) => {
      meter.onStalled(cause);
      sayStalled(log, cause);
    },
    ...(onEnded === undefined ? {} : { onEnded }),
    ...(options.tellCauses === true ? { tellCauses: true } : {}),
    ...(options.missingAgents === undefined ? {} : { missingAgents: options.missingAgents }),
  });
  showStats(engine, metrics, () => Object.keys(agents));
  showWebhooks(engine, metrics);
  const add: Engine['add'] = (name, agent) => {
    agents[name] = agent;
    return engine.add(name, agent);
  };
  return { ...engine, add };
}

/** Failures inside the engine, with the task that they are about. */
function reporting(log: Log): ReportFailure {
  return (what, cause, about) => {
    const fields = about === undefined ? {} : taskFields(about);
    if (about?.isTransient === true) log.warn(what, { ...fields, reason: cause instanceof Error ? cause.message : String(cause) });
    else log.error(what, cause, fields);
  };
}

/** The reason that an agent gives is cut to this length. */
const REASON_CHARS_MAX = 200;

/** A failed task, with the reason that its caller reads. */
function sayFailed(log: Log, entries: readonly LogEntry[], about: ReportedTask): void {
  const status = entries.at(-1)?.event.statusUpdate?.status;
  if (status?.state !== 'TASK_STATE_FAILED') return;
  const reason = status.message === undefined ? undefined : getTextFromMessage(status.message).slice(0, REASON_CHARS_MAX);
  log.warn('a task failed', { ...taskFields(about), reason });
}

/** The store tells its operator that the disk is full, and that it is not any more. */
function sayStalled(log: Log, cause: unknown): void {
  if (cause === undefined) log.info('the store can write again');
  else log.error('the store can’t write; it is tried again every second, and until then new work is refused', cause);
}

function nested(outer: AroundRun, inner: AroundRun): AroundRun {
  return (run, turn, name) => outer((given) => inner(run, given, name), turn, name);
}
