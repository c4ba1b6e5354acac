import type { JsonObject } from '#protocol';
import type { ModelTool } from './model.ts';

/**
 * Port: something that a model can call. `parley-a2a/tools` makes them from MCP servers and from other
 * agents; a function of your own needs only these members.
 *
 * ```ts
 * const clock: LlmTool = {
 *   name: 'clock',
 *   description: 'Tells the time.',
 *   inputSchema: { type: 'object' },
 *   isReadOnly: true,
 *   run: async () => ({ text: new Date().toISOString() }),
 * };
 * ```
 */
export interface LlmTool extends ModelTool {
  /** It changes nothing, so it runs without approval. Default false. */
  readonly isReadOnly?: boolean;
  /** Runs the tool. A thrown error becomes the result that the model sees. */
  run(input: JsonObject, call: LlmToolCall): Promise<LlmToolResult>;
}

/** What a tool knows of the call besides its input. */
export interface LlmToolCall {
  /** Aborted when the task is canceled. */
  readonly signal: AbortSignal;
}

/** What a tool gives the model. */
export interface LlmToolResult {
  readonly text: string;
  /** The tool did not do what was asked. */
  readonly isError?: boolean;
}

/** Tools that are connected when they are first needed. Dispose of them to end programs and connections. */
export interface LlmToolbox extends Partial<AsyncDisposable> {
  /** Connects, or returns the tools that are known. */
  tools(): Promise<readonly LlmTool[]>;
  /** The tools run programs on this machine, or may do so. */
  readonly runsCommands?: boolean;
}
