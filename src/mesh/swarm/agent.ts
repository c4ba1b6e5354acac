import type { AgentTurn } from '#agents';
import { artifact, complete, defineAgent, fail } from '#agents';
import type { Agent, Clock, Json, JsonObject, Principal } from '#protocol';
import { isA2AError, jsonOf, linkSignals, systemClock } from '#protocol';
import type { Directive, SwarmKind } from './directive.ts';
import { readDirective } from './directive.ts';
import type { SwarmNodes } from './nodes.ts';
import type { PriorityQueue } from './queue.ts';
import { createPriorityQueue } from './queue.ts';

/** Executes directives of one kind. Its return value is the `output` of the response. */
export type SwarmHandler = (
  directive: Directive,
  about: { readonly principal: Principal; readonly signal: AbortSignal },
) => Promise<Json> | Json;

/** Options of `swarmAgent`. */
export interface SwarmOptions {
  /** The nodes of the swarm, from `createSwarmNodes`. */
  readonly nodes: SwarmNodes;
  /** The resources of this node: CPU, memory, agents, load. */
  readonly resources: () => JsonObject;
  /** `query_resources` and `sync_state` are built in. Other kinds need a handler. */
  readonly handlers?: Readonly<Partial<Record<SwarmKind, SwarmHandler>>>;
  /**
   * Decides which directives to execute. Default: all but `spawn_agent` and `execute_task`, which run
   * what a sender wrote.
   */
  readonly allow?: (directive: Directive, principal: Principal) => boolean;
  /** Maximum number of directives that run at once. Default 4. */
  readonly atOnce?: number;
  readonly clock?: Clock;
}

const DANGEROUS: ReadonlySet<SwarmKind> = new Set<SwarmKind>(['spawn_agent', 'execute_task']);
/** The payload field that each kind requires. */
const NEEDED: Readonly<Partial<Record<SwarmKind, string>>> = {
  spawn_agent: 'instruction',
  execute_task: 'command',
  forward_message: 'message',
};
const AT_ONCE = 4;

/**
 * An agent that executes swarm directives. Each directive is a task, which can be streamed, canceled
 * and read like any other.
 *
 * ```ts
 * const swarm = swarmAgent({ nodes: createSwarmNodes({ self: 'node-1' }), resources: () => ({ agents: 1 }) });
 * ```
 */
export function swarmAgent(options: SwarmOptions): Agent {
  const queue = createPriorityQueue(options.atOnce ?? AT_ONCE);
  return defineAgent({
    name: 'swarm',
    description: 'Executes swarm directives. metadata.swarmKind names the kind.',
    run: async function* (turn) {
      const { end, answer } = await execute(turn, options, queue);
      const text = JSON.stringify(answer);
      yield artifact({ parts: [{ text }] });
      yield end(text);
    },
  });
}

interface Outcome {
  /** A refusal is a failure: CortexPrism takes every state that it does not expect, `REJECTED` too, for a success. */
  readonly end: typeof complete | typeof fail;
  readonly answer: JsonObject;
}

/** Reads the directive, checks whether it is allowed, and runs it in the order of priorities. */
async function execute(turn: AgentTurn, options: SwarmOptions, queue: PriorityQueue): Promise<Outcome> {
  const { clock = systemClock } = options;
  const begun = clock.now().getTime();
  try {
    const directive = readDirective(turn.message, begun);
    const problem = refusal(directive, turn.principal, options);
    if (problem !== undefined) return { end: fail, answer: { status: 'rejected', error: problem } };
    return await inTurn({ directive, turn, begun }, options, queue);
  } catch (thrown) {
    if (turn.signal.aborted) throw thrown;
    const error = isA2AError(thrown)
      ? thrown.message
      : `Swarm directive failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    return { end: fail, answer: { status: 'failed', error } };
  }
}

interface Running {
  readonly directive: Directive;
  readonly turn: AgentTurn;
  readonly begun: number;
}

/** Waits for its place in the queue, but not beyond its expiry. */
async function inTurn({ directive, turn, begun }: Running, options: SwarmOptions, queue: PriorityQueue): Promise<Outcome> {
  const { clock = systemClock } = options;
  const expired: Outcome = { end: fail, answer: { status: 'expired', error: `${directive.directiveId} has expired` } };
  if (directive.expiresAt <= begun) return expired;
  const waiting = linkSignals([turn.signal], directive.expiresAt - begun);
  let leave: () => void;
  try {
    leave = await queue.enter(directive.priority, waiting.signal);
  } catch (thrown) {
    if (waiting.isLate) return expired;
    throw thrown;
  } finally {
    waiting.release();
  }
  try {
    const output = await run(directive, turn, options);
    return { end: complete, answer: { status: 'completed', output, metrics: { durationMs: clock.now().getTime() - begun } } };
  } finally {
    leave();
  }
}

/** Why a directive is refused. Dangerous ones need an `allow` function. */
function refusal(directive: Directive, principal: Principal, { allow, handlers, nodes }: SwarmOptions): string | undefined {
  const { kind, payload, targetNodeId } = directive;
  const { self } = nodes.topology();
  if (targetNodeId !== undefined && targetNodeId !== self) return `this is node ${self}, not ${targetNodeId}`;
  const field = NEEDED[kind];
  if (field !== undefined && typeof payload[field] !== 'string') return `${kind} needs ${field}`;
  const isAllowed = allow === undefined ? !DANGEROUS.has(kind) : allow(directive, principal);
  if (!isAllowed) return `${kind} is not allowed by the policy of this node`;
  const isBuiltIn = kind === 'query_resources' || kind === 'sync_state';
  return isBuiltIn || handlers?.[kind] !== undefined ? undefined : `this node has no handler for ${kind}`;
}

async function run(directive: Directive, turn: AgentTurn, { nodes, resources, handlers }: SwarmOptions): Promise<Json> {
  const { kind, payload, sourceNodeId } = directive;
  const given = handlers?.[kind];
  if (kind === 'sync_state') {
    const state = payload['state'];
    const merged = nodes.merge(sourceNodeId, isState(state) ? state['resources'] : payload['resources']);
    if (given === undefined) return { merged };
  }
  if (given !== undefined) return given(directive, { principal: turn.principal, signal: turn.signal });
  return { ...resources(), swarm: jsonOf(nodes.topology()) };
}

function isState(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
