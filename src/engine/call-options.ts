import type { CallContext, CallSemantics, DialectId, DialectOptions } from '#protocol';

/** The engine stores the id of a task's dialect, and asks its caller what that id means. */
export type OptionsOf = (dialect: DialectId) => DialectOptions;

const A2A_1_0: CallSemantics = {};

/** Where a call departs from A2A 1.0. `behave` (src/protocol) sets these options. */
export function optionsOfCall(ctx: CallContext): CallSemantics {
  return ctx.semantics ?? A2A_1_0;
}
