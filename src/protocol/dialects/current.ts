import type { Registry } from './create-registry.ts';
import { createRegistry } from './create-registry.ts';
import { v10 } from './v10/dialect.ts';

/** The current dialect alone, which is all that a client needs for most agents. */
export const CURRENT_REGISTRY: Registry = createRegistry([v10]);

/** Whether a card certainly has the form of the current version, whatever older members it also has. No other dialect is needed to read it. */
export function hasCurrentForm(card: unknown): boolean {
  return v10.card.detect(card) === 'path';
}
