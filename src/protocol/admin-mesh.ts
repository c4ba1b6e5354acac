import type { TaskState } from './states.ts';
import type { Timestamp } from './task.ts';

/**
 * The mesh as one node sees it: the agents and gateways on the broker, and the calls between them. The
 * console draws its mesh page from this.
 */
export interface AdminMesh {
  /** URL of the broker, without user name and password. */
  readonly broker: string;
  /**
   * Whether this node's connection to the broker is up. While it is down, `peers` shows the last known
   * state.
   */
  readonly isConnected: boolean;
  /** First part of every topic. Nodes see each other only within one namespace. */
  readonly namespace: string;
  /** Protocol used on the broker: `sam` or `mqtt01`. */
  readonly grammar: string;
  /** When this view was taken. */
  readonly at: Timestamp;
  /** Every agent and gateway that has announced itself, this node's own included. */
  readonly peers: readonly AdminPeer[];
  /** Calls that are running, and the calls that ended most recently. */
  readonly calls: readonly AdminMeshCall[];
  /**
   * Which calls `calls` contains. `all`: every call on the mesh, while an operator has the page open.
   * `own`: only calls through this node. `none`: the grammar does not let a node observe calls.
   */
  readonly hears: 'all' | 'own' | 'none';
  /**
   * Messages that this node received and did not process. `dropped`: malformed. `refused`: answered
   * with an error. `ignored`: addressed to nobody here.
   */
  readonly counts: { readonly dropped: number; readonly refused: number; readonly ignored: number };
}

/** One agent or gateway on the mesh. */
export interface AdminPeer {
  readonly kind: 'agent' | 'gateway';
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /**
   * `stale`: the peer has missed heartbeats. It is removed if no heartbeat arrives within the grace
   * period.
   */
  readonly state: 'live' | 'stale';
  /** Time of its last heartbeat. */
  readonly seenAt: Timestamp;
  /** Milliseconds since its last heartbeat. */
  readonly silentMs: number;
  /**
   * The processes that serve this agent, by instance id. Peers that announce no instance id are missing
   * here.
   */
  readonly replicas: readonly { readonly id: string; readonly silentMs: number }[];
  /** Whether one of the replicas is this node. */
  readonly isOurs: boolean;
  /**
   * Path under which an operator calls the peer on this node, for example `/agents/echo`. Absent when
   * this node can't call it.
   */
  readonly path?: string;
}

/**
 * One call on the mesh: a gateway that forwards a request, or an agent that delegates to another agent.
 */
export interface AdminMeshCall {
  /** Mesh name of the calling agent or gateway. */
  readonly from: string;
  readonly fromKind: 'agent' | 'gateway';
  /** Mesh name of the called agent. */
  readonly to: string;
  /** Task id as the caller chose it. */
  readonly task: string;
  /** Length of the chain of delegations before this call. 0 for a request from outside the mesh. */
  readonly depth: number;
  readonly since: Timestamp;
  /** Absent while the call is running. */
  readonly endedAt?: Timestamp;
  /** Final state of the task. Absent when the response was an error, or too large to be parsed here. */
  readonly state?: TaskState;
}
