import type { AgentCard } from '../card.ts';
import type { A2AError, ErrorKind } from '../errors.ts';
import type { Logged, TaskEvent } from '../events.ts';
import type { DialectId, Seq } from '../ids.ts';
import type { Json } from '../json.ts';
import type { Operation, Shape, Shapes } from '../operations.ts';
import type { Ids } from '../ports.ts';
import type { Task } from '../task.ts';
import type { RestGrammar } from './rest.ts';

/** `not-in-dialect` becomes "method not found", `invalid` becomes "invalid params": never folded into one. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: 'not-in-dialect' }
  | { readonly ok: false; readonly reason: 'invalid'; readonly path: string; readonly problem: string };

/** What reading needs besides the bytes. One object serves a whole process; `rpcId` is the exception. */
export interface ReadEnv {
  /** Mints the message ids that some dialects do not have. */
  readonly ids: Ids;
  readonly limits: ReadLimits;
  /** The envelope's id, where a dialect gives it a meaning (SAM: it names the task). */
  readonly rpcId?: RpcId;
}

export interface ReadLimits {
  readonly jsonDepthMax: number;
  readonly messagePartsMax: number;
  readonly idCharsMax: number;
}

export const DEFAULT_READ_LIMITS: ReadLimits = { jsonDepthMax: 64, messagePartsMax: 100, idCharsMax: 128 };

export type RpcId = string | number | null;

/**
 * How sure a dialect is that a request is its own: not at all; its method grammar fits; the body has marks of its own;
 * the path is its own. The surest wins, and among equals the one that stands first in the registry.
 */
export const CONFIDENCE = ['no', 'grammar', 'shape', 'path'] as const;
export type Confidence = (typeof CONFIDENCE)[number];

/** What can be known of a request before it is read. `params` is JSON that nobody has checked. */
export interface Hints {
  readonly path?: string;
  readonly method?: string;
  readonly params?: unknown;
  /** `A2A-Version`; it confirms, it never decides: Cortex sends 1.0 too. */
  readonly version?: string;
}

/** One server-sent event. `id` only on what is in the log, so that a client never resumes after a frame we made up. */
export interface Frame {
  readonly data: string;
  readonly id?: Seq;
  readonly event?: string;
}

/** Writes one stream. Streams keep state: 0.1's artifact index, Cortex's last task. */
export interface StreamWriter {
  frames(batch: readonly Logged[]): readonly Frame[];
  /** After the last event; `task` is the task as it stands then, if there is one. */
  end(task: Task | undefined): readonly Frame[];
  /** `end` uses the task. Without this nobody fetches it. */
  readonly endsWithTask?: true;
  /** It keeps nothing from one batch to the next and is given to many streams: the same batch is the same frames on all of them. */
  readonly isShared?: true;
}

/** Reads one stream: the frame's JSON without its envelope. One frame can hold several events, or none. */
export interface StreamReader {
  read(raw: unknown): Decoded<readonly TaskEvent[]>;
  /** Each frame is one event, whatever came before it. */
  readonly isPlain?: true;
}

/** An error as JSON-RPC carries it. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** Where a dialect's JSON-RPC envelope differs from that of JSON-RPC 2.0. */
export interface EnvelopeRules {
  /** `jsonrpc` may be left out. */
  readonly versionOptional?: true;
  /** `id` may be left out, and is answered as null. */
  readonly idOptional?: true;
  /** An `id` of null is as good as none. */
  readonly idNotNull?: true;
}

/**
 * How a dialect *behaves*, in canonical terms. Only `behave` (`protocol/behave.ts`) reads these; nothing reads a dialect's name.
 *
 * What no dialect varies is not here. A send waits by default in all of them: PromptKit's tools never poll, and SAM has no method to ask for the
 * task later. A stream that answers a message ends when the agent asks for input: Cortex's client waits for the end of the stream.
 */
export interface Traits {
  /** The caller chooses the task's id. The engine keeps that id as an alias of the task. */
  readonly callerNamesTask: boolean;
  /** With `callerNamesTask`: a name stands for one task for ever. Absent: the next message under the name of a finished task starts a new task. */
  readonly namesOnce?: true;
  /** Messages have no ids on this wire: the reader makes one up for each, so that the id does not identify a repeated send. */
  readonly mintsMessageIds?: true;
  /** A message with a context id and no task id continues the one waiting task of that context. */
  readonly resumesByContext: boolean;
  /** Cancelling a finished task: an error, or the task as it is. */
  readonly cancelFinished: 'error' | 'returns-task';
  /** `as-task`: an agent's direct message becomes a completed task, because the dialect has only tasks. */
  readonly directMessage: 'allowed' | 'as-task';
  /** The history of an answer whose request has no historyLength: everything, or nothing. */
  readonly historyDefault: 'all' | 'none';
  /** Subscribing to a finished task: an error, or its snapshot and then the end of the stream. */
  readonly subscribeFinished: 'error' | 'returns-task';
}

/** What a dialect looks like on HTTP besides its JSON. Bindings, both halves, read these. */
export interface DialectWire {
  /** HTTP status of a JSON-RPC error response. */
  readonly httpStatusOnError: (kind: ErrorKind) => number;
  /** How long this dialect's own clients wait for a response, in milliseconds; our links use it as their default timeout. */
  readonly timeoutMs: number;
  /** The largest request body of this dialect, where its mount fixes the dialect and the server sets no limit. */
  readonly bodyBytesMax: number;
  /** Header that carries extension URIs, in requests and responses. */
  readonly extensionsHeader: 'A2A-Extensions' | 'X-A2A-Extensions' | undefined;
  /** The `A2A-Version` that its clients send and its servers answer with. */
  readonly versionHeader: string | undefined;
  /** A send carries the task id that the caller chose. Links make one up where the caller gave none. */
  readonly callerNamesTask?: true;
  /**
   * A JSON-RPC error of a call for a stream is one server-sent event: for every caller that takes events, or only for those that take
   * nothing else (`Accept`). Absent: it is a JSON response. Only for errors whose HTTP status is 200.
   */
  readonly streamErrors?: 'event' | 'event-if-only';
  /** `get` and `cancel` of an unknown task answer with a JSON null instead of an error. */
  readonly nullForUnknownTask?: true;
}

/** One thing the dialect has no place for. `field` is `Type.member` of the canonical model. */
export interface Loss {
  readonly field: string;
  /** Lost only for these values; unsaid: for any. */
  readonly values?: readonly Json[];
  /** What is lost is that there was nothing: the dialect must say something here. */
  readonly absent?: true;
  /** Lost only where one of these stands beside it: a part's filename beside `text`, not beside `url`. */
  readonly beside?: readonly string[];
  /** Lost only in what is asked, or only in what is answered. */
  readonly in?: 'requests' | 'answers';
  readonly reason: string;
  /** Where it can be seen that there is no place: a section of the specification, or of the product's documents. */
  readonly clause: string;
}

export interface CardCodec {
  /** How sure this dialect is that the document is one of its cards. */
  detect(raw: unknown): Confidence;
  read(raw: unknown, env: ReadEnv): Decoded<AgentCard>;
  write(card: AgentCard): Json;
  /** Published on a broker and never fetched, so that the card for everybody has nothing of it. */
  readonly isPublished?: true;
}

/** What a webhook receives. It goes by the dialect that its configuration was registered in, whatever the task is called by otherwise. */
export interface WebhookForm {
  /** `events`: each as it happened. `task`: the task as it stands, each time. */
  readonly carries: 'events' | 'task';
  readonly mediaType: string;
  /** Where it carries tasks, it is given events with a task in them. */
  write(event: TaskEvent): Json;
}

/** One dialect, whole. Pure: it holds no state and touches nothing outside its arguments. */
export interface Dialect {
  readonly id: DialectId;
  /** For people: `A2A 0.3`, `CortexPrism`. */
  readonly title: string;
  /** The method names it sends. What it accepts besides is `operationOf`'s business. */
  readonly methods: Readonly<Partial<Record<Operation, string>>>;
  operationOf(method: string): Operation | undefined;
  detect(hints: Hints): Confidence;
  decode<K extends Shape>(shape: K, raw: unknown, env: ReadEnv): Decoded<Shapes[K]>;
  /** Throws UNSUPPORTED_OPERATION for a shape that the dialect does not have. */
  encode<K extends Shape>(shape: K, value: Shapes[K]): Json;
  readonly error: { read(raw: unknown): A2AError; write(error: A2AError): WireError };
  readonly envelope?: EnvelopeRules;
  /** The envelope id of a request, where the dialect gives it a meaning; otherwise the link counts. */
  rpcId?<K extends Shape>(shape: K, value: Shapes[K]): RpcId | undefined;
  readonly card: CardCodec;
  /** `requestId` undefined: frames without a JSON-RPC envelope, as HTTP+JSON sends them. */
  openStream(requestId: RpcId | undefined): StreamWriter;
  openReader(env: ReadEnv): StreamReader;
  readonly webhook: WebhookForm;
  /** Absent: the dialect has no HTTP+JSON form. */
  readonly rest?: RestGrammar;
  readonly traits: Traits;
  readonly wire: DialectWire;
  readonly losses: readonly Loss[];
}
