import type { Choice, Json } from '#protocol';

/** What a coding agent does, whatever it speaks. Every adapter turns its own events into these; one place turns them into A2A's. */
export type RunEvent =
  | { readonly kind: 'init'; readonly sessionId?: string; readonly model?: string; readonly mode?: string; readonly note?: string }
  /** A piece of the answer. `startsMessage`: the agent has begun a new message, which is to be a paragraph of its own. */
  | { readonly kind: 'text'; readonly text: string; readonly startsMessage?: boolean }
  /** A piece of its reasoning. */
  | { readonly kind: 'thought'; readonly text: string }
  | ToolUse
  | ToolResult
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** Something to know that changes nothing: a warning, a line that was too long. */
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'done'; readonly summary?: string; readonly stopReason?: string; readonly output?: Json }
  /** It will not do it. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'error'; readonly message: string };

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

export interface ToolResult {
  readonly kind: 'tool_result';
  readonly id: string;
  readonly tool?: string;
  readonly output: string;
  readonly isError: boolean;
  readonly diffs?: readonly FileDiff[];
}

/** As the Agent Client Protocol sorts them. */
export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'switch_mode' | 'other';

export interface FileDiff {
  readonly path: string;
  /** Undefined: the file is new. */
  readonly oldText?: string;
  readonly newText: string;
}

export interface PlanEntry {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly priority?: string;
}

export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedTokens?: number;
  readonly totalTokens?: number;
  readonly turns?: number;
  readonly durationMs?: number;
  readonly costUsd?: number;
}

/** The agent asks whether it may. It waits until `answer` is called, once. */
export interface Approval {
  /** Tells it from others of the same run. */
  readonly id: string;
  readonly tool: string;
  readonly toolKind?: ToolKind;
  /** What it wants to do, in words. */
  readonly title: string;
  readonly input?: Json;
  readonly paths?: readonly string[];
  readonly options: readonly Choice[];
  /** Fires when the agent does not want to know any more. */
  readonly withdrawn?: AbortSignal;
  /** Undefined: no option that rejects was offered, and it is denied all the same. */
  answer(optionId: string | undefined): void;
}

/** What every question offers that has no options of its own. */
export const YES_OR_NO: readonly Choice[] = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];
