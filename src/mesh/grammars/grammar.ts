import type { TaskReply } from '#engine';
import type { A2AService, AgentCard, CallContext, Ids, Part, TaskState } from '#protocol';
import type { ArtifactService, StoredArtifact } from '../artifacts/service.ts';
import type { Broker, OutgoingMessage, ReceivedMessage } from '../broker.ts';

/** An agent of this process, as it is served on the mesh. */
export interface MeshAgent {
  /** The name in topics. */
  readonly name: string;
  /** The card to announce. */
  readonly card: AgentCard;
  readonly service: A2AService;
}

/**
 * What a process receives for an agent that other processes on the same store serve too. `relayed`: what they pass on to one another.
 * `requestsFrom`: the requests themselves, on a connection of the agent. One of the processes has it at a time.
 */
export type ServedPart = 'relayed' | { readonly requestsFrom: Broker };

/** What everything that one process does on a mesh has in common. */
export interface MeshContext {
  readonly broker: Broker;
  readonly namespace: string;
  /** Names this process among the replicas of its agents. One level of a topic. */
  readonly instance: string;
  readonly ids: Ids;
  /** The scopes of callers over the broker. */
  readonly scopes: readonly string[];
  readonly counts: MeshCounts;
  /** Stores files that are too large for a message. Absent: files are sent inline. */
  readonly artifacts?: ArtifactService;
  /** Logs an internal problem. */
  report(what: string, cause?: unknown): void;
}

/** Messages that did not lead to a task. */
export interface MeshCounts {
  /** Malformed, and without a topic to send an error to. */
  dropped: number;
  /** Answered with an error. */
  refused: number;
  /** Unknown methods, and retained messages where none are expected. */
  ignored: number;
}

export function newCounts(): MeshCounts {
  return { dropped: 0, refused: 0, ignored: 0 };
}

/** Ends what the call that returned it has started. May be called more than once. */
export type Stop = () => Promise<void>;

/**
 * Who calls on the mesh: a gateway, for people and programs outside of it; or an agent that delegates.
 */
export interface MeshParticipant {
  readonly kind: 'gateway' | 'agent';
  /** One level of a topic, unique in the namespace. */
  readonly id: string;
}

/** Which agent to call, and on whose behalf. */
export interface MeshLinkOptions {
  readonly agent: string;
  /**
   * The agent's card, from discovery. A request without a response is published again only if the card
   * says that the agent recognises repeats. Others would run it twice.
   */
  readonly card?: AgentCard;
  /** The user to name in the request. Default: the id of the call's principal. */
  readonly userOf?: (ctx: CallContext) => string;
  /** The delegations that led to these calls. */
  readonly callPath?: CallPath;
  /**
   * A request that no agent has accepted is published again after this time, also without a card. Give it
   * only for agents that recognise repeats.
   */
  readonly retryMs?: number;
  /** A request that no agent has accepted fails after this time. */
  readonly acceptMsMax?: number;
  /** The call fails when an agent at work sends nothing for this time. */
  readonly idleMsMax?: number;
}

/** The delegations that led to a request: an agent never calls one that is waiting for it. */
export interface CallPath {
  readonly depth: number;
  readonly agents: readonly string[];
}

/** Maximum length of a chain of delegations. */
export const CALL_DEPTH_MAX = 10;

/**
 * Calls agents on the mesh, all over one inbox for responses.
 *
 * ```ts
 * const caller = await mesh.call({ kind: 'gateway', id: 'desk-7' });
 * const echo = caller.link({ agent: 'echo' }); // an A2AService
 * ```
 */
export interface MeshCaller {
  /** An `A2AService` that calls one agent. */
  link(options: MeshLinkOptions): A2AService;
  /** Whether the agent runs a message once, however often it is sent. */
  recognisesRepeats(card: AgentCard): boolean;
  /** For agents whose texts quote files by name. A gateway replaces these quotes. */
  quoteReader?(card: AgentCard): ReadQuotes | undefined;
  /** Closes the inbox. Running calls fail. */
  close: Stop;
}

/** Loads a file of the conversation: the given version, or the latest one. */
export type LoadFile = (name: string, version: number | undefined) => Promise<StoredArtifact | undefined>;

/** Replaces what a text quotes from files. Without `load` there are no files. */
export type ReadQuotes = (text: string, load: LoadFile | undefined) => Promise<readonly Part[]>;

/** What a participant publishes about itself. */
export interface Announcement {
  readonly kind: 'agent' | 'gateway';
  readonly name: string;
  readonly card: AgentCard;
  /** Which of several processes with this agent it is. */
  readonly instance?: string;
}

/** News from the discovery topics. */
export type DiscoveryEvent =
  | { readonly kind: 'online'; readonly announcement: Announcement }
  | { readonly kind: 'offline'; readonly name: string; readonly instance?: string };

/** A request or response between two participants, as a third connection sees it. */
export type ObservedCall =
  | {
      readonly kind: 'request';
      readonly from: string;
      readonly fromKind: 'agent' | 'gateway';
      readonly to: string;
      readonly task: string;
      readonly depth: number;
    }
  | { readonly kind: 'response'; readonly from: string; readonly task: string; readonly state?: TaskState };

/**
 * How A2A is written on a broker: topics, properties, requests, responses and discovery. Each grammar
 * is one folder.
 */
export interface Grammar {
  /** `sam` or `mqtt01`. */
  readonly id: string;
  /** Turns a name that a person chose into one that can stand in a topic. */
  topicName(name: string): string;
  /** Agents have the names of their cards, in the case that people chose: `OrderValidator`. */
  readonly usesCardNames: boolean;
  /** Throws a TypeError when the grammar can't use the namespace. */
  checkNamespace(namespace: string): void;
  /**
   * The broker retains the cards and publishes last wills, so cards are not repeated and silence does
   * not mean that an agent is gone.
   */
  readonly retainsCards: boolean;
  /** Gateways publish a card as agents do. */
  readonly announcesGateways: boolean;
  /**
   * Serves an agent. Each request goes to one replica, which acknowledges it when the task is durable.
   * Without `part`: everything, on the connection of the process.
   */
  serve(agent: MeshAgent, mesh: MeshContext, part?: ServedPart): Promise<Stop>;
  /** Publishes a reply of the engine to an address that `serve` wrote. */
  publishReply(reply: TaskReply, mesh: MeshContext, signal: AbortSignal): Promise<void>;
  /** Opens an inbox for calls to other agents. */
  call(self: MeshParticipant, mesh: MeshContext): Promise<MeshCaller>;
  /**
   * The message that says a participant is online. Published at the start and, unless cards are
   * retained, repeatedly.
   */
  onlineMessage(announcement: Announcement, mesh: MeshContext): OutgoingMessage;
  /** The message that says a participant leaves. */
  offlineMessage(announcement: Announcement, mesh: MeshContext): OutgoingMessage;
  /**
   * Only for grammars in which a name belongs to one process: who owns the retained card. `other`:
   * another process is online under this name. `gone`: another process was. Undefined: no other
   * process.
   */
  ownerOfCard?(retained: ReceivedMessage, announcement: Announcement): 'other' | 'gone' | undefined;
  /** The topic filters to subscribe to for discovery. */
  discoveryFilters(mesh: MeshContext): readonly string[];
  /** Undefined: the message can't be trusted or read. */
  readDiscovery(message: ReceivedMessage, mesh: MeshContext): DiscoveryEvent | undefined;
  /**
   * For monitoring. Absent: a third connection can't see who calls whom, or listening would change what
   * callers see.
   */
  readonly observation?: {
    topics(namespace: string): readonly string[];
    read(message: ReceivedMessage, namespace: string): ObservedCall | undefined;
  };
}
