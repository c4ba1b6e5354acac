import type { AgentCard } from './card.ts';
import type { ConversationPage, ConversationRange } from './conversation.ts';
import type { TaskArtifactUpdate, TaskStatusUpdate } from './events.ts';
import type { ContextId } from './ids.ts';
import type { Json, Metadata, OneOf } from './json.ts';
import type { Message } from './message.ts';
import type { Part } from './parts.ts';
import type { Principal, TraceContext } from './service.ts';
import type { Task } from './task.ts';

/**
 * One message of the caller and everything that the agent needs to answer it. An agent gets it as the
 * argument of `run`.
 */
export interface Turn {
  /** The message to answer. */
  readonly message: Message;
  /** The task as it is after this message was added. */
  readonly task: Task;
  /** The conversation. Tasks of one conversation share it. */
  readonly contextId: ContextId;
  /** Messages of the task before this one, oldest first. */
  readonly history: readonly Message[];
  /** The authenticated caller. */
  readonly principal: Principal;
  /**
   * The value that the agent's `open` returned for this context; undefined for an agent without `open`.
   */
  readonly opened: unknown;
  /** Media types that the caller accepts. Empty: everything. */
  readonly acceptedOutputModes: readonly string[];
  /**
   * 1 for the first run of this message. Higher after a restart, for agents with recovery `retry` or
   * `resume`.
   */
  readonly attempt: number;
  /** Trace context of the caller, to be passed on in outgoing calls. Absent after a restart. */
  readonly trace?: TraceContext;
  /** Aborted on cancel, on timeout and on shutdown. */
  readonly signal: AbortSignal;
  /**
   * Asks the caller a question without ending the run. The task becomes input-required, and the promise
   * resolves with the caller's next message. When `options.signal` is aborted, the question is
   * withdrawn: the promise rejects with the signal's reason, the task is working again, and the run may
   * ask something else.
   */
  ask(question: Message, options?: { readonly signal?: AbortSignal }): Promise<Message>;
  /**
   * Resolves when the message, this attempt and everything yielded so far are on disk. Await it before
   * the first effect outside the process, such as starting a program or spending money: after a crash
   * the engine then knows that the attempt was made. Rejects if the run is stopped meanwhile.
   */
  durable(): Promise<void>;
  /** Whether another message of the caller is queued until this run ends. */
  hasNext(): boolean;
  /**
   * The caller's previous task in this context, without artifacts. Its metadata survives restarts, so
   * an agent can keep notes there.
   */
  before(): Promise<Task | undefined>;
  /**
   * What the caller and the agent said to each other in this context before this message, oldest first.
   * Read from disk when it is called.
   */
  conversation(range?: ConversationRange): Promise<ConversationPage>;
}

/**
 * Reason of a turn's signal when the run must end but its task continues, after the next start of the
 * process or with the caller's next message.
 */
export const LET_GO = 'The run has to end here; its task continues.';

/**
 * Whether the signal ends only the run and not its task. An agent whose work continues in another
 * process leaves that work running, and finds it again in the next attempt.
 */
export function isLetGo(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof DOMException && signal.reason.message === LET_GO;
}

/**
 * What a run yields. The engine turns each value into events, checks the state transition and logs it
 * before any reader sees it.
 *
 * `complete`, `fail`, `reject`, `ask` and `message` end the run. A run that returns without one of them
 * has completed. After `auth` a run may continue, when the credential arrived in another way, or
 * return; then the next message starts a new turn.
 */
export type AgentOutput =
  | { readonly kind: 'status'; readonly message?: Message; readonly metadata?: Metadata }
  | { readonly kind: 'text'; readonly text: string; readonly artifact?: string; readonly last?: boolean }
  | {
      readonly kind: 'artifact';
      readonly parts: readonly Part[];
      readonly id?: string;
      readonly name?: string;
      readonly description?: string;
      readonly extensions?: readonly string[];
      readonly append?: boolean;
      readonly last?: boolean;
      readonly metadata?: Metadata;
    }
  | { readonly kind: 'data'; readonly data: Json; readonly name?: string }
  | { readonly kind: 'complete'; readonly message?: Message; readonly metadata?: Metadata }
  | { readonly kind: 'fail'; readonly reason: Message }
  /** The question is optional: PromptKit waits for a person without a text. */
  | { readonly kind: 'ask'; readonly question?: Message }
  | { readonly kind: 'auth'; readonly request: Message }
  | { readonly kind: 'reject'; readonly reason: Message }
  | { readonly kind: 'message'; readonly message: Message }
  /**
   * For agents that produce A2A events themselves: an SDK's executor or a proxied agent. The engine
   * replaces the ids and the timestamp and keeps the rest. An event with a terminal state or
   * input-required ends the run.
   */
  | { readonly kind: 'event'; readonly event: OneOf<{ statusUpdate: TaskStatusUpdate; artifactUpdate: TaskArtifactUpdate }> };

/**
 * Something that answers messages. Build one with `defineAgent`, or implement this interface.
 *
 * ```ts
 * const echo: Agent = {
 *   card,
 *   recovery: 'retry',
 *   async *run({ message }) {
 *     yield { kind: 'text', text: getTextFromMessage(message) };
 *   },
 * };
 * ```
 */
export interface Agent {
  /** The card to publish. A server adds interfaces, security schemes and signatures. */
  readonly card: AgentCard;
  /**
   * What happens to a run that a crash or a shutdown interrupted. `fail`: the task fails. Right for
   * work that must not be repeated. `retry`: the same message runs again from its start, and its output
   * replaces the output of the first run. `resume`: like `retry`, but the earlier output stays in
   * `turn.task` and new text is appended to it.
   */
  readonly recovery: 'resume' | 'retry' | 'fail';
  /**
   * The agent starts programs on this machine, or may do so (an MCP server's tools can do anything). A
   * server never offers such an agent to unauthenticated callers.
   */
  readonly runsCommands?: boolean;
  /**
   * `attach` (default): a repeated message id attaches to the first send. `anew`: a repeated message id
   * is a new message, and only an `Idempotency-Key` identifies a repeated send. For agents whose
   * callers reuse ids by design, such as conformance kits.
   */
  readonly repeats?: 'attach' | 'anew';
  /**
   * The agent rejects unsupported media types itself, as a proxied agent does. The engine then does not
   * compare them with the card.
   */
  readonly checksInputModes?: true;
  /** A node without authentication serves the extended card all the same. For conformance kits. */
  readonly extendedCardForAll?: true;
  /**
   * While a run waits in `turn.ask`, the stream of an A2A 0.3 caller stays open, and the work after the answer continues on it, as
   * coding-agent-a2a does. Default: the stream ends at the question, where the clients of the official SDKs ask their users.
   */
  readonly questionsKeepStream?: boolean;
  /** Answers one message. Called once for each attempt of a turn. */
  run(turn: Turn): AsyncIterable<AgentOutput>;
  /**
   * Called after a restart for a task that waits for its caller: can the agent continue once the answer
   * comes? `false` fails the task at once. Without this method such tasks keep waiting.
   */
  keepsWaiting?(waiting: { readonly contextId: ContextId; readonly principal: string }): boolean | Promise<boolean>;
  /**
   * Creates the state of one caller's conversation, once for each context. A disposable value is
   * disposed of after the conversation has been idle for a long time.
   */
  open?(contextId: ContextId): Promise<unknown>;
  /**
   * Called for a task that was canceled while it waited for its caller. No run existed whose signal
   * could have been aborted.
   */
  canceled?(task: Task, of: { readonly principal: string }): Promise<void>;
  /** Deletes what the agent itself keeps of a conversation. Called when an operator erases a caller's data. */
  forget?(conversation: { readonly contextId: ContextId; readonly principal: string }): Promise<void>;
  /** The card for an authenticated caller. Without this method the agent has no extended card. */
  extendedCard?(principal: Principal): Promise<AgentCard>;
}
