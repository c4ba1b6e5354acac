import type { Choice, Json } from '#protocol';

/**
 * The actions of a coding agent, independent of its protocol. Every adapter turns its own events into
 * these, and `outputs.ts` turns them into A2A's.
 */
export type RunEvent =
  | { readonly kind: 'init'; readonly sessionId?: string; readonly model?: string; readonly mode?: string; readonly note?: string }
  /** A piece of the answer. `startsMessage`: a new message begins, which becomes its own paragraph. */
  | { readonly kind: 'text'; readonly text: string; readonly startsMessage?: boolean }
  /** A piece of its reasoning. */
  | { readonly kind: 'thought'; readonly text: string }
  | ToolUse
  | ToolResult
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** A notice: a warning, a line that was too long. */
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'done'; readonly summary?: string; readonly stopReason?: string; readonly output?: Json }
  /** The agent refuses the request. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'error'; readonly message: string };

/** The agent calls a tool. */
export interface ToolUse {
  readonly kind: 'tool_use';
  /** Unique within the run. The result of the call has the same id. */
  readonly id: string;
  /** The agent's name for the tool. */
  readonly tool: string;
  /** A description of the call, for people. */
  readonly title?: string;
  /** What approval rules such as `allow:read` match. */
  readonly toolKind?: ToolKind;
  /** The arguments of the call. */
  readonly input?: Json;
  /** The files that the call reads or changes. */
  readonly paths?: readonly string[];
  /** The changes that the call makes, if the agent tells them. */
  readonly diffs?: readonly FileDiff[];
}

/** A tool call has ended. */
export interface ToolResult {
  readonly kind: 'tool_result';
  /** The id of the call. */
  readonly id: string;
  /** The agent's name for the tool, if the result repeats it. */
  readonly tool?: string;
  /** What the tool returned or printed. */
  readonly output: string;
  /** The call failed or was denied. */
  readonly isError: boolean;
  /** The changes that the call has made. */
  readonly diffs?: readonly FileDiff[];
}

/** The kinds of the Agent Client Protocol. */
export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'switch_mode' | 'other';

/** One changed file. */
export interface FileDiff {
  /** As the agent wrote it: absolute, or relative to its folder. */
  readonly path: string;
  /** Undefined: the file is new. */
  readonly oldText?: string;
  /** The content after the change. */
  readonly newText: string;
}

/** One step of the agent's plan. */
export interface PlanEntry {
  /** What the step does. */
  readonly content: string;
  /** Whether the step has begun and ended. */
  readonly status: 'pending' | 'in_progress' | 'completed';
  /** The agent's own word for it. */
  readonly priority?: string;
}

/** Tokens, time and cost, as far as the agent reports them. */
export interface Usage {
  /** Tokens sent to the model. */
  readonly inputTokens?: number;
  /** Tokens that the model produced. */
  readonly outputTokens?: number;
  /** Input tokens that the model had cached. */
  readonly cachedTokens?: number;
  /** All tokens, where the agent reports only a sum. */
  readonly totalTokens?: number;
  /** Requests to the model. */
  readonly turns?: number;
  /** Time of the run by the agent's clock, in milliseconds. */
  readonly durationMs?: number;
  /** The agent's estimate of the cost, in US dollars. */
  readonly costUsd?: number;
}

/** The agent asks for permission. It waits until `answer` is called, once. */
export interface Approval {
  /** Unique within the run. */
  readonly id: string;
  /** The agent's name for the tool. */
  readonly tool: string;
  /** What approval rules such as `allow:read` match. */
  readonly toolKind?: ToolKind;
  /** A description of the action. */
  readonly title: string;
  /** The arguments of the call. */
  readonly input?: Json;
  /** The files that the call reads or changes. */
  readonly paths?: readonly string[];
  /** The answers that the agent accepts. */
  readonly options: readonly Choice[];
  /** Fires when the agent withdraws its request. */
  readonly withdrawn?: AbortSignal;
  /** Undefined: no option rejects, and the request is denied anyway. */
  answer(optionId: string | undefined): void;
}

/** The options of a question that has none of its own. */
export const YES_OR_NO: readonly Choice[] = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];
