import type { TaskReply } from '#engine';
import type { A2AService, AgentCard, CallContext, Ids, TaskState } from '#protocol';
import type { ArtifactService } from '../artifacts/service.ts';
import type { Broker, OutgoingMessage, ReceivedMessage } from '../broker.ts';

/** An agent of this process, as it is served on the mesh. */
export interface MeshAgent {
  /** As it stands in topics. */
  readonly name: string;
  readonly card: AgentCard;
  readonly service: A2AService;
}

/** What is the same for everything that one process does on a mesh. */
export interface MeshContext {
  readonly broker: Broker;
  readonly namespace: string;
  /** This process among the replicas of its agents: a level of a topic. */
  readonly instance: string;
  readonly ids: Ids;
  /** Of those who call over the broker. */
  readonly scopes: readonly string[];
  readonly counts: MeshCounts;
  /** Bytes that are too many for a message go by reference to it. Absent: they go as they are. */
  readonly artifacts?: ArtifactService;
  /** What went wrong inside, for the log. */
  report(what: string, cause?: unknown): void;
}

/** What was heard and came to nothing. */
export interface MeshCounts {
  /** Malformed, with nowhere to answer. */
  dropped: number;
  /** Answered with an error. */
  refused: number;
  /** Methods that nobody has, kept messages where none are meant. */
  ignored: number;
}

export function newCounts(): MeshCounts {
  return { dropped: 0, refused: 0, ignored: 0 };
}

export type Stop = () => Promise<void>;

/** Who calls on the mesh: a gateway, for people and programs outside; or an agent that delegates. */
export interface MeshParticipant {
  readonly kind: 'gateway' | 'agent';
  /** A level of a topic, unique in the namespace. */
  readonly id: string;
}

/** Who is asked, and on whose behalf. */
export interface MeshLinkOptions {
  readonly agent: string;
  /** Default: what stands behind the principal of the call. */
  readonly userOf?: (ctx: CallContext) => string;
  /** How deep in delegation the calls already are, and through whom. */
  readonly trail?: CallPath;
  /** A request that nobody has taken is published again after so long. */
  readonly retryMs?: number;
  /** And given up after so long. */
  readonly acceptMsMax?: number;
  /** Silence of a peer at work; each word of it begins it anew. */
  readonly idleMsMax?: number;
}

/** The way that a request has come: agents that delegate do not call those that wait for them. */
export interface CallPath {
  readonly depth: number;
  readonly agents: readonly string[];
}

export const CALL_DEPTH_MAX = 10;

/** The calls of one participant: one inbox, and a link for each peer. */
export interface MeshCaller {
  link(options: MeshLinkOptions): A2AService;
  close: Stop;
}

/** What somebody on the mesh says of itself. */
export interface Announcement {
  readonly kind: 'agent' | 'gateway';
  readonly name: string;
  readonly card: AgentCard;
  /** One of several processes that are this agent. */
  readonly instance?: string;
}

/** News on the topics of discovery. */
export type DiscoveryEvent =
  | { readonly kind: 'here'; readonly announcement: Announcement }
  | { readonly kind: 'gone'; readonly name: string; readonly instance?: string };

/** A call between any two, as its request or its answer tells it to whoever listens. */
export type ObservedCall =
  | {
      readonly kind: 'asked';
      readonly from: string;
      readonly fromKind: 'agent' | 'gateway';
      readonly to: string;
      readonly task: string;
      readonly depth: number;
    }
  | { readonly kind: 'answered'; readonly from: string; readonly task: string; readonly state?: TaskState };

/** How A2A is spoken over a broker: both halves, and how agents find each other. One grammar, one folder. */
export interface Grammar {
  readonly id: string;
  /** A name that people gave, as it stands in topics. Default: letters, digits and underscores. */
  nameOf?(name: string): string;
  /** Throws for a namespace that is none here. */
  check?(namespace: string): void;
  /** A broker keeps the cards and says when somebody has gone: nothing has to be repeated, and silence means nothing. */
  readonly retainsCards?: true;
  /** Answers requests for an agent: each to one of its replicas. A request is acknowledged when its task is durable. */
  serve(agent: MeshAgent, place: MeshContext): Promise<Stop>;
  /** Publishes what an engine carries to an address that `serve` has made. */
  carry(reply: TaskReply, place: MeshContext, signal: AbortSignal): Promise<void>;
  /** Opens the way to call others. */
  call(self: MeshParticipant, place: MeshContext): Promise<MeshCaller>;
  /** What to publish, at the start and from time to time. */
  announcing(announcement: Announcement, place: MeshContext): OutgoingMessage;
  /**
   * Only where a name is one process: what the broker keeps in place of the announced one. `other`: another is there; `gone`: another was,
   * and is not now. Undefined: nobody else.
   */
  takenBy?(kept: ReceivedMessage, announcement: Announcement): 'other' | 'gone' | undefined;
  /** What to publish at the end. */
  leaving(announcement: Announcement, place: MeshContext): OutgoingMessage;
  /** What to listen to for others. */
  readonly discovery: (place: MeshContext) => readonly string[];
  /** Undefined: it says nothing that can be relied on. */
  hear(message: ReceivedMessage, place: MeshContext): DiscoveryEvent | undefined;
  /** For those who watch. Absent: calls can't be told from outside, or listening would change what callers see. */
  readonly calls?: {
    readonly topics: (namespace: string) => readonly string[];
    overhear(message: ReceivedMessage, namespace: string): ObservedCall | undefined;
  };
}
