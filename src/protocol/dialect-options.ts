import { callSemantics } from './behave.ts';
import { createRegistry, DIALECTS } from './dialects/registry.ts';
import type { DialectId } from './ids.ts';
import type { CallSemantics } from './service.ts';

/** How a dialect's answers differ from A2A 1.0, for answers that no request asks for: replies, webhooks, an operator's retry. */
export interface DialectOptions extends CallSemantics {
  /** Messages of the history in an answer. Absent: all of them. */
  readonly historyLength?: number;
}

const known = new Map<DialectId, DialectOptions>();

/** The options of a dialect that is known by its stored id alone. An unknown id counts as A2A 1.0. */
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
