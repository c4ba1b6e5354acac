import type { AgentCard } from '../../card.ts';
import { cardView } from '../../card-fields.ts';
import type { Json } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { CardCodec, Confidence, ReadEnv } from '../dialect.ts';
import { readCardMembers, readInterface } from '../shared/card-members.ts';
import { attempt, isRaw, list, object } from '../shared/read.ts';

/** A2A 1.0.1 §8: a card with interfaces is 1.0's, whatever older members it also has. */
export const card: CardCodec = {
  detect: (raw): Confidence => {
    const interfaces = isRaw(raw) ? (raw.supportedInterfaces ?? raw.supported_interfaces) : undefined;
    if (interfaces === undefined || interfaces === null) return 'no';
    // An empty or malformed list is 1.0's only if no other dialect recognises the card.
    return Array.isArray(interfaces) && interfaces.length > 0 ? 'path' : 'grammar';
  },
  read: (raw, env) => attempt(readCard, raw, env),
  write: writeCard,
};

/**
 * Pure 1.0. Conformance kits refuse any key outside of its schema, so a program's own members are left
 * out.
 */
export function writeCard(value: AgentCard): Json {
  return cardView(jsonOf(value));
}

export function readCard(raw: unknown, env: ReadEnv): AgentCard {
  const c = object(raw);
  const interfaces = list(c.supportedInterfaces ?? c.supported_interfaces, 'supportedInterfaces', readInterface, env);
  return readCardMembers(c, interfaces, env);
}
