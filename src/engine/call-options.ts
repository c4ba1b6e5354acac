import type { CallContext, CallOptions, DialectId } from '#protocol';

/** How a dialect's answers differ from A2A 1.0, for answers that no request asks for: replies, webhooks, an operator's retry. */
export interface DialectOptions extends CallOptions {
  /** Messages of the history in an answer. Absent: all of them. */
  readonly historyLength?: number;
}

/** The engine stores the id of a task's dialect, and asks its caller what that id means. */
export type OptionsOf = (dialect: DialectId) => DialectOptions;

const A2A_1_0: CallOptions = {};

export function optionsOfCall(ctx: CallContext): CallOptions {
  return ctx.options ?? A2A_1_0;
}
