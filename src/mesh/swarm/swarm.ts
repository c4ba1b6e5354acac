import type { A2AService, CallContext, Clock, Json, JsonObject, Task } from '#protocol';
import { A2AError, CURRENT_DIALECT, getTextFromMessage, isObject, LOCAL_PRINCIPAL, linkSignals, parseJson, systemClock } from '#protocol';
import type { NewDirective } from './directive.ts';
import { writeDirective } from './directive.ts';
import type { SwarmNodes } from './nodes.ts';
import { SWARM_DEFAULTS } from './nodes.ts';

/** Another node of the swarm, and how to call it. */
export interface SwarmPeer {
  /** Name of the node. */
  readonly id: string;
  /** Calls the node. */
  readonly service: A2AService;
}

/** Options of `openSwarm`. */
export interface OpenSwarmOptions {
  /** Name of this node. */
  readonly self: string;
  /** Where the reports of other nodes are kept. */
  readonly nodes: SwarmNodes;
  /** Called for every heartbeat and broadcast: peers come and go. */
  readonly peers: () => readonly SwarmPeer[];
  /** This node's report. Called for every heartbeat. */
  readonly resources: () => JsonObject;
  /** Interval of heartbeats in milliseconds. Default 30,000. */
  readonly heartbeatMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Called with a peer that a heartbeat did not reach. */
  onMissed?(peer: string, thrown: unknown): void;
}

/** The response of a node. */
export interface DirectiveAnswer {
  /** How the directive ended, for example `completed`, `rejected` or `expired`. */
  readonly status: string;
  /** The result. */
  readonly output?: Json;
  /** Why there is none. */
  readonly error?: string;
  /** The task in which the node executed it. */
  readonly task: Task;
}

/** A directive without its source, which is this node. */
export type Directing = Omit<NewDirective, 'sourceNodeId'> & { readonly signal?: AbortSignal };

/** This node's way to the others. */
export interface Swarm {
  /** Sends a directive to one peer and waits for its response. */
  direct(peer: SwarmPeer, directive: Directing): Promise<DirectiveAnswer>;
  /** Sends a directive to all peers at once. */
  broadcast(directive: Directing): Promise<readonly PromiseSettledResult<DirectiveAnswer>[]>;
  /** Sends this node's report to every peer now. */
  beat(): Promise<void>;
  /** Stops the heartbeat. */
  close(): void;
}

/**
 * Sends directives to the peers of a swarm, and a heartbeat with this node's report every 30 seconds.
 *
 * ```ts
 * const swarm = openSwarm({ self: 'node-0', nodes, resources, peers: () => [{ id: 'node-1', service }] });
 * const [answer] = await swarm.broadcast({ kind: 'query_resources' });
 * ```
 */
export function openSwarm(options: OpenSwarmOptions): Swarm {
  const { self, nodes, peers, resources, heartbeatMs = SWARM_DEFAULTS.heartbeatMs, clock = systemClock } = options;
  const end = new AbortController();
  const direct: Swarm['direct'] = async ({ id, service }, { signal, ...directive }) => {
    const request = writeDirective({ ...directive, sourceNodeId: self, targetNodeId: id }, clock.now().getTime());
    const linked = linkSignals([signal, end.signal]);
    const { task } = await service.send(request, contextOf(linked.signal)).finally(linked.release);
    if (task === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `${id} did not respond to the directive with a task`);
    return answerIn(task);
  };
  const beat = async (): Promise<void> => {
    const state = { resources: nodes.snapshots(resources()) };
    await Promise.all(
      peers().map(async (peer) => {
        try {
          await direct(peer, { kind: 'sync_state', payload: { state }, ttlMs: heartbeatMs });
        } catch (thrown) {
          if (!end.signal.aborted) options.onMissed?.(peer.id, thrown);
        }
      }),
    );
  };
  const timer = setInterval(() => void beat(), heartbeatMs);
  timer.unref?.();
  return {
    direct,
    beat,
    broadcast: (directive) => Promise.allSettled(peers().map((peer) => direct(peer, directive))),
    close: () => {
      clearInterval(timer);
      end.abort();
    },
  };
}

function contextOf(signal: AbortSignal): CallContext {
  return { principal: LOCAL_PRINCIPAL, dialect: CURRENT_DIALECT, extensions: [], signal };
}

/** Reads the artifact, or the task's final message. */
function answerIn(task: Task): DirectiveAnswer {
  const text = task.artifacts?.[0]?.parts[0]?.text ?? (task.status.message === undefined ? '' : getTextFromMessage(task.status.message));
  const { status, output, error } = objectIn(text);
  return {
    status: typeof status === 'string' ? status : task.status.state === 'TASK_STATE_COMPLETED' ? 'completed' : 'failed',
    ...(output === undefined ? {} : { output }),
    ...(typeof error === 'string' ? { error } : {}),
    task,
  };
}

function objectIn(text: string): JsonObject {
  try {
    const raw = parseJson(text);
    return isObject(raw) ? raw : {};
  } catch {
    return {};
  }
}
