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
  readonly id: string;
  readonly tool: string;
  readonly title?: string;
  readonly toolKind?: ToolKind;
  readonly input?: Json;
  readonly paths?: readonly string[];
  readonly diffs?: readonly FileDiff[];
}

/** A tool call has ended. */
export interface ToolResult {
  readonly kind: 'tool_result';
  readonly id: string;
  readonly tool?: string;
  readonly output: string;
  readonly isError: boolean;
  readonly diffs?: readonly FileDiff[];
}

/** The kinds of the Agent Client Protocol. */
export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'switch_mode' | 'other';

/** One changed file. */
export interface FileDiff {
  readonly path: string;
  /** Undefined: the file is new. */
  readonly oldText?: string;
  readonly newText: string;
}

/** One step of the agent's plan. */
export interface PlanEntry {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly priority?: string;
}

/** Tokens, time and cost, as far as the agent reports them. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedTokens?: number;
  readonly totalTokens?: number;
  readonly turns?: number;
  readonly durationMs?: number;
  readonly costUsd?: number;
}

/** The agent asks for permission. It waits until `answer` is called, once. */
export interface Approval {
  /** Unique within the run. */
  readonly id: string;
  readonly tool: string;
  readonly toolKind?: ToolKind;
  /** A description of the action. */
  readonly title: string;
  readonly input?: Json;
  readonly paths?: readonly string[];
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
