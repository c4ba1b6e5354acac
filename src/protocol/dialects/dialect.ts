import type { AgentCard } from '../card.ts';
import type { A2AError, ErrorKind } from '../errors.ts';
import type { Logged, TaskEvent } from '../events.ts';
import type { DialectId, Seq } from '../ids.ts';
import type { Json } from '../json.ts';
import type { LargeJson } from '../large-json.ts';
import type { Operation, Shape, Shapes } from '../operations.ts';
import type { Ids } from '../ports.ts';
import type { Task } from '../task.ts';
import type { RestGrammar } from './rest.ts';

/**
 * Outcome of decoding. Bindings answer `not-in-dialect` with "method not found" and `invalid` with
 * "invalid params", so the two must stay apart.
 */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: 'not-in-dialect' }
  | { readonly ok: false; readonly reason: 'invalid'; readonly path: string; readonly problem: string };

/** What readers need besides the bytes. One object serves the whole process, except for `rpcId`. */
export interface ReadEnv {
  /** Source of message ids, for dialects whose messages have none. */
  readonly ids: Ids;
  readonly limits: ReadLimits;
  /** Id of the JSON-RPC envelope, for dialects in which it has a meaning (SAM: it names the task). */
  readonly rpcId?: RpcId;
}

/** Limits on input from a peer. */
export interface ReadLimits {
  /** Maximum nesting of free-form JSON. */
  readonly jsonDepthMax: number;
  /** Maximum number of parts in the message of a request. */
  readonly messagePartsMax: number;
  /** Maximum length of an id. */
  readonly idCharsMax: number;
}

/** Limits that the server and the client use unless configured otherwise. */
export const DEFAULT_READ_LIMITS: ReadLimits = { jsonDepthMax: 64, messagePartsMax: 100, idCharsMax: 128 };

/** Id of a JSON-RPC request. */
export type RpcId = string | number | null;

/**
 * How sure a dialect is that a request is its own, in increasing order: not at all; the method name
 * fits; the method fits and the path is where its clients call; the body has members that only this dialect has; the path belongs to this dialect. The surest
 * dialect is chosen; among equals, the first in the registry.
 */
export const CONFIDENCE = ['no', 'grammar', 'mount', 'shape', 'path'] as const;
/** One of `CONFIDENCE`. */
export type Confidence = (typeof CONFIDENCE)[number];

/** What is known about a request before it is decoded. `params` is unchecked JSON. */
export interface Hints {
  readonly path?: string;
  readonly method?: string;
  readonly params?: unknown;
  /** `A2A-Version`. It can only confirm a dialect: Cortex sends 1.0 too. */
  readonly version?: string;
}

/** One server-sent event. */
export interface Frame {
  readonly data: string | LargeJson;
  /**
   * Sequence number, set only for events in the log: a client must not resume after a frame that is in
   * no log.
   */
  readonly id?: Seq;
  /** SSE event name. Absent: `message`. */
  readonly event?: string;
}

/**
 * Writes one stream. It may keep state between events, such as 0.1's artifact index or Cortex's last
 * task.
 */
export interface StreamWriter {
  /** The frames for a batch of events. An event may become several frames, or none. */
  frames(batch: readonly Logged[]): readonly Frame[];
  /** Frames after the last event. `task` is the task at that time, if there is one. */
  end(task: Task | undefined): readonly Frame[];
  /** `end` needs the task. Without this flag the task is not fetched. */
  readonly endsWithTask?: true;
  /**
   * The writer keeps no state between batches, so many streams share it: the same batch gives the same
   * frames on all of them, and is encoded once.
   */
  readonly isShared?: true;
}

/** Reads one stream, frame by frame, without envelopes. A frame may contain several events, or none. */
export interface StreamReader {
  read(raw: unknown): Decoded<readonly TaskEvent[]>;
  /** Each frame is one event and does not depend on earlier frames. */
  readonly isPlain?: true;
}

/** An error in the form of JSON-RPC. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** How a dialect's JSON-RPC envelope differs from JSON-RPC 2.0. */
export interface EnvelopeRules {
  /** `jsonrpc` may be absent. */
  readonly versionOptional?: true;
  /** `id` may be absent. The response then has the id null. */
  readonly idOptional?: true;
  /** An `id` of null counts as absent. */
  readonly idNotNull?: true;
}

/**
 * How a dialect behaves differently from A2A 1.0, as data. Only `behave` (`protocol/behave.ts`) reads
 * these; no code compares a dialect's name.
 *
 * Behaviour that is equal in all dialects is not listed. In all of them a send waits by default:
 * PromptKit's tools never poll, and SAM has no method to read the task later. In all of them a stream
 * that answers a message ends when the agent asks for input: Cortex's client waits for the end of the
 * stream.
 */
export interface Traits {
  /** The caller chooses the task's id. The engine stores it as an alias of the task. */
  readonly callerNamesTask: boolean;
  /**
   * With `callerNamesTask`: a name stands for one task forever. Absent: the next message under the name
   * of a finished task starts a new task.
   */
  readonly namesOnce?: true;
  /**
   * Messages have no ids in this dialect. The reader generates one for each, so the id can't identify a
   * repeated send.
   */
  readonly mintsMessageIds?: true;
  /** A message with a context id and no task id continues the only waiting task of that context. */
  readonly resumesByContext: boolean;
  /** Result of canceling a finished task: an error, or the unchanged task. */
  readonly cancelFinished: 'error' | 'returns-task';
  /** `as-task`: an agent's direct message becomes a completed task, because the dialect has only tasks. */
  readonly directMessage: 'allowed' | 'as-task';
  /** History in the answer to a request without historyLength. */
  readonly historyDefault: 'all' | 'none';
  /**
   * Result of subscribing to a finished task: an error, or its snapshot and then the end of the stream.
   * `returns-status`: only its status. A task that waits for its caller then ends the stream too.
   */
  readonly subscribeFinished: 'error' | 'returns-task' | 'returns-status';
  /**
   * The stream of a send stays open while a run waits for an answer, if its agent says so (`Agent.questionsKeepStream`). Absent: it ends at
   * every question.
   */
  readonly streamsThroughQuestions?: true;
  /** Canceling a canceled task again is an error too. Absent: it returns the task. */
  readonly cancelsOnce?: true;
  /** A list has whole tasks, with their artifacts, unless the request says otherwise. */
  readonly listsArtifacts?: true;
  /** Maximum time that a send waits for its answer. It then answers with the unfinished task. Absent: no maximum. */
  readonly sendMsMax?: number;
}

/** HTTP details of a dialect besides its JSON. Both halves of each binding read these. */
export interface DialectWire {
  /** HTTP status of a JSON-RPC error response. */
  readonly httpStatusOnError: (kind: ErrorKind) => number;
  /** How long this dialect's own clients wait for a response. Our links use it as their default timeout. */
  readonly timeoutMs: number;
  /** Maximum request body at a path that accepts only this dialect, unless the server sets a limit. */
  readonly bodyBytesMax: number;
  /** Header that carries extension URIs, in requests and responses. */
  readonly extensionsHeader: 'A2A-Extensions' | 'X-A2A-Extensions' | undefined;
  /** Value of `A2A-Version` in requests and responses. Undefined: the header is not sent. */
  readonly versionHeader: string | undefined;
  /** A send carries a task id that the caller chose. Links generate one if the caller gives none. */
  readonly callerNamesTask?: true;
  /** With `callerNamesTask`: the name of a task is the conversation. Links use the context's id as the name, and the name as the context's id. */
  readonly namesAreContexts?: true;
  /** Only a context that the caller names is kept. Links generate its id if the caller gives none. */
  readonly callerNamesContext?: true;
  /** A streamed message does not become part of its context. The client sends it without a stream. */
  readonly streamsLoseContext?: true;
  /**
   * A JSON-RPC error of a call for a stream is one server-sent event: for every caller that takes events, or only for those that take
   * nothing else (`Accept`). Absent: it is a JSON response. Only for errors whose HTTP status is 200.
   */
  readonly streamErrors?: 'event' | 'event-if-only';
  /** Where clients of this product call. On the official path of a node that serves several dialects, requests are those of 0.3 and 1.0. */
  readonly callPath?: string;
  /** Streams have no task event. A snapshot is written as several events, which a client that resumes has already seen. */
  readonly snapshotAsEvents?: true;
  /** Without an extended card, a call for it returns the public card. */
  readonly extendedCardIsCard?: true;
  /** `get` and `cancel` of an unknown task return null instead of an error. */
  readonly nullForUnknownTask?: true;
}

/** A field that the dialect can't express. `field` is `Type.member` of the canonical model. */
export interface Loss {
  readonly field: string;
  /** Only these values are lost. Absent: all values. */
  readonly values?: readonly Json[];
  /** The information that is lost is that the field was absent: the dialect requires a value. */
  readonly absent?: true;
  /**
   * Lost only if the owner also has one of these members: a part's filename beside `text`, but not
   * beside `url`.
   */
  readonly beside?: readonly string[];
  /** Lost only in requests, or only in answers. */
  readonly in?: 'requests' | 'answers';
  /** Why the dialect can't express it, for people. */
  readonly reason: string;
  /** Evidence: a section of the specification or of the product's documents. */
  readonly clause: string;
}

/** Reads and writes the cards of a dialect. */
export interface CardCodec {
  /** How sure the dialect is that the document is one of its cards. */
  detect(raw: unknown): Confidence;
  read(raw: unknown, env: ReadEnv): Decoded<AgentCard>;
  write(card: AgentCard): Json;
  /**
   * The card is published on a broker and never fetched over HTTP, so the superset card contains none
   * of its members.
   */
  readonly isPublished?: true;
}

/**
 * The payload of a webhook. It follows the dialect in which the push config was created, whatever
 * dialect other callers of the task use.
 */
export interface WebhookForm {
  /** `events`: each event as it happened. `task`: the whole task, for each event. */
  readonly carries: 'events' | 'task';
  readonly mediaType: string;
  /** For `task`, the engine passes events that contain a task. */
  write(event: TaskEvent): Json;
}

/**
 * One version of A2A, or one product's form of it: how it looks on the wire and how it behaves. A
 * dialect has no state and no side effects. Create one with `defineDialect`.
 */
export interface Dialect {
  /** Stored with tasks, so it must never change. */
  readonly id: DialectId;
  /** Name for people: `A2A 0.3`, `CortexPrism`. */
  readonly title: string;
  /** Method names that Parley sends. `operationOf` may accept more. */
  readonly methods: Readonly<Partial<Record<Operation, string>>>;
  /** The operation of a method name, aliases included. */
  operationOf(method: string): Operation | undefined;
  /** How sure the dialect is that a request is its own. */
  detect(hints: Hints): Confidence;
  /** `detect` may return `path`. Without this, the dialect is not asked about a request whose body another dialect has recognised. */
  readonly claimsPaths?: true;
  /** Reads JSON of the wire into a canonical value. Never throws on bad input. */
  decode<K extends Shape>(shape: K, raw: unknown, env: ReadEnv): Decoded<Shapes[K]>;
  /**
   * Writes a canonical value. Throws `UNSUPPORTED_OPERATION` for a shape that the dialect does not
   * have.
   */
  encode<K extends Shape>(shape: K, value: Shapes[K]): Json;
  /** Reads and writes errors. */
  readonly error: { read(raw: unknown): A2AError; write(error: A2AError): WireError };
  /** Deviations from JSON-RPC 2.0. Absent: none. */
  readonly envelope?: EnvelopeRules;
  /**
   * Envelope id of a request, if the dialect gives it a meaning. Otherwise the link counts its
   * requests.
   */
  rpcId?<K extends Shape>(shape: K, value: Shapes[K]): RpcId | undefined;
  /** Reads and writes agent cards. */
  readonly card: CardCodec;
  /** Starts writing a stream. Without `requestId` the frames have no JSON-RPC envelope, as in HTTP+JSON. */
  openStream(requestId: RpcId | undefined): StreamWriter;
  /** Starts reading a stream. */
  openReader(env: ReadEnv): StreamReader;
  /** How events are sent to webhooks. */
  readonly webhook: WebhookForm;
  /** Routes of the HTTP+JSON form. Absent: the dialect has none. */
  readonly rest?: RestGrammar;
  /** How it behaves. */
  readonly traits: Traits;
  /** How it looks on HTTP. */
  readonly wire: DialectWire;
  /**
   * Every canonical field that the dialect can't express, if the dialect is not one of this package. Read it with `dialectLosses`: the
   * lists of this package's dialects are kept apart (loss-table.ts), because clients, which never read them, would have to download them.
   */
  readonly losses?: readonly Loss[];
}
