import { callSemantics } from './behave.ts';
import { createRegistry, DIALECTS } from './dialects/registry.ts';
import type { DialectId } from './ids.ts';
import type { CallSemantics } from './service.ts';

/**
 * How answers in a dialect differ from A2A 1.0, for answers that belong to no request: broker replies,
 * webhooks, an operator's retry.
 */
export interface DialectOptions extends CallSemantics {
  /** Number of history messages in an answer. Absent: all. */
  readonly historyLength?: number;
}

/** Options by dialect id. The registry is read once for each id. */
const known = new Map<DialectId, DialectOptions>();

/** The options of a dialect, by the id that is stored with a task. An unknown id counts as A2A 1.0. */
export function optionsOfDialect(id: DialectId): DialectOptions {
  let options = known.get(id);
  if (options === undefined) {
    options = derived(id);
    known.set(id, options);
  }
  return options;
}

function derived(id: DialectId): DialectOptions {
  const traits = createRegistry(DIALECTS).byId(id)?.traits;
  if (traits === undefined) return {};
  const semantics = callSemantics(traits) ?? {};
  return traits.historyDefault === 'none' ? { ...semantics, historyLength: 0 } : semantics;
}
