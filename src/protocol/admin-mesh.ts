import type { TaskState } from './states.ts';
import type { Timestamp } from './task.ts';

/** What this node sees of the mesh that it is on. */
export interface AdminMesh {
  /** Its address, without user and password. */
  readonly broker: string;
  readonly isConnected: boolean;
  readonly namespace: string;
  /** How A2A is spoken there: `sam`, `mqtt01`. */
  readonly grammar: string;
  readonly at: Timestamp;
  readonly peers: readonly AdminPeer[];
  /** Under way, and those that ended last. */
  readonly calls: readonly AdminMeshCall[];
  /** Whose calls those are: `all` while somebody looks, otherwise those that go through this node; `none` where the grammar tells of none. */
  readonly hears: 'all' | 'own' | 'none';
  /** Messages that came to nothing here: malformed, answered with an error, not meant for anybody. */
  readonly counts: { readonly dropped: number; readonly refused: number; readonly ignored: number };
}

/** Somebody on the mesh. */
export interface AdminPeer {
  readonly kind: 'agent' | 'gateway';
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** `stale`: it has missed heartbeats, and is dropped if it stays silent. */
  readonly state: 'live' | 'stale';
  /** Its last heartbeat. */
  readonly seenAt: Timestamp;
  readonly silentMs: number;
  /** The processes that are this agent, as far as they say which they are. */
  readonly replicas: readonly { readonly id: string; readonly silentMs: number }[];
  /** One of them is this node. */
  readonly isOurs: boolean;
  /** Where an operator calls it on this node, as `/agents/echo`. Absent: it can't be called from here. */
  readonly path?: string;
}

/** One participant has another do something. */
export interface AdminMeshCall {
  /** An agent that delegates, or a gateway, by the name that it has on the mesh. */
  readonly from: string;
  readonly fromKind: 'agent' | 'gateway';
  readonly to: string;
  /** As the caller names it. */
  readonly task: string;
  /** How many delegations deep: 0 for those from outside. */
  readonly depth: number;
  readonly since: Timestamp;
  readonly endedAt?: Timestamp;
  /** As it ended; absent where the answer was too large to look into, or an error. */
  readonly state?: TaskState;
}
