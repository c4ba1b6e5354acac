import type { AgentCard } from './card.ts';
import type { TaskArtifactUpdate, TaskStatusUpdate } from './events.ts';
import type { ContextId } from './ids.ts';
import type { Json, Metadata, OneOf } from './json.ts';
import type { Message } from './message.ts';
import type { Part } from './parts.ts';
import type { Principal, TraceContext } from './service.ts';
import type { Task } from './task.ts';

/** One message and the run of the agent that answers it. */
export interface Turn {
  readonly message: Message;
  /** As it stands with this message taken in. */
  readonly task: Task;
  readonly contextId: ContextId;
  /** The messages of the task before this one, oldest first. */
  readonly history: readonly Message[];
  readonly principal: Principal;
  /** What the agent's `open` made for this context, if it has one. */
  readonly conversation: unknown;
  readonly acceptedOutputModes: readonly string[];
  /** Counts from 1; more than 1 only under recovery `retry` or `resume`. */
  readonly attempt: number;
  /** The caller's trace, for whatever the agent calls in turn. Not known any more after a restart. */
  readonly trace?: TraceContext;
  /** Fires on cancel, on a timeout and on shutdown. */
  readonly signal: AbortSignal;
  /**
   * Asks the caller without ending the run: the task waits as input-required, and the next message is the answer. When `signal` fires
   * the question is withdrawn: the promise rejects with its reason, the task is at work again, and the run may ask something else.
   */
  ask(question: Message, options?: { readonly signal?: AbortSignal }): Promise<Message>;
  /**
   * Resolves when the message, this attempt and everything yielded so far are on disk. An agent with effects outside (it starts a
   * program, it spends money) awaits it before the first one: whatever happens then, the attempt is known of after a restart.
   */
  durable(): Promise<void>;
  /** Another message of the caller waits until this run ends. */
  hasNext(): boolean;
  /** The caller's last task in this context before this one, without its artifacts: what an agent noted in its metadata outlives a restart. */
  before(): Promise<Task | undefined>;
}

/** The reason of a turn's signal when the run must end but its task continues: after the next start, or with the caller's next message. */
export const LET_GO = 'The run has to end here; its task continues.';

/** The signal has fired for the run alone. An agent whose work continues elsewhere leaves it there, and finds it in the next attempt. */
export function isLetGo(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof DOMException && signal.reason.message === LET_GO;
}

/**
 * What a run yields. The engine turns each into events, checks the transition and logs it before anyone sees it. `complete`, `fail`,
 * `reject`, `ask` and `message` are a run's last words; a run that ends without one has completed. After `auth` a run may continue by
 * itself (the credential came another way) or end, and then the next message is a turn of its own.
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
  /** A caller may know without words what is wanted (PromptKit's waits for a person have none). */
  | { readonly kind: 'ask'; readonly question?: Message }
  | { readonly kind: 'auth'; readonly request: Message }
  | { readonly kind: 'reject'; readonly reason: Message }
  | { readonly kind: 'message'; readonly message: Message }
  /**
   * For an agent that already speaks in A2A's own events (an SDK's executor, a proxied origin): taken as it is, but for the ids and
   * the time, which are the task's and the engine's. A terminal or input-required state is a last word.
   */
  | { readonly kind: 'event'; readonly event: OneOf<{ statusUpdate: TaskStatusUpdate; artifactUpdate: TaskArtifactUpdate }> };

export interface Agent {
  readonly card: AgentCard;
  /**
   * What happens to a run that a crash or a shutdown cut off. `fail`: the task fails; right for a run that is not idempotent, which is
   * never repeated by itself. `retry`: the same message is run again from its start, and what the new run makes replaces what the
   * old one made. `resume`: the same, but `turn.task` holds what was made and further text is appended to it.
   */
  readonly recovery: 'resume' | 'retry' | 'fail';
  /** It starts programs on this machine, or may: what an MCP server's tools do nobody knows. Such an agent is never served to callers who have not shown who they are. */
  readonly runsCommands?: boolean;
  /**
   * `anew`: a message id that comes again is another message, also if nobody got the first answer; only an Idempotency-Key names a
   * send. For agents whose callers reuse ids by design, as conformance kits do.
   */
  readonly repeats?: 'attach' | 'anew';
  /** The agent refuses unsupported media types itself, as a proxied origin does. The engine then does not check them against the card. */
  readonly checksInputModes?: true;
  run(turn: Turn): AsyncIterable<AgentOutput>;
  /**
   * Asked after a restart for a task that waits for its caller: can the agent continue it once the answer comes? `false` fails the
   * task at once, with that reason. Without this member it waits on.
   */
  keepsWaiting?(waiting: { readonly contextId: ContextId; readonly principal: string }): boolean | Promise<boolean>;
  /** Makes the state of one caller's conversation, once. If it is disposable, it is disposed of when it has long been unused. */
  open?(contextId: ContextId): Promise<unknown>;
  /** Told of a task that was canceled while it waited for its caller, whose task it is: no run was there to hear a signal. */
  canceled?(task: Task, of: { readonly principal: string }): Promise<void>;
  /** The card for a caller who has shown who it is. Without it the agent has no extended card. */
  extendedCard?(principal: Principal): Promise<AgentCard>;
}
