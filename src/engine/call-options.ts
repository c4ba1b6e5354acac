import type { CallContext, DialectId, DialectOptions } from '#protocol';
import { optionsOfDialect } from '#protocol';

/** The engine stores the id of a task's dialect, and asks its caller what that id means. */
export type OptionsOf = (dialect: DialectId) => DialectOptions;

export function optionsOfCall(ctx: CallContext): DialectOptions {
  return ctx.options ?? optionsOfDialect(ctx.dialect);
}
