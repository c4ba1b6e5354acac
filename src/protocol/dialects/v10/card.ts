import type { AgentCard } from '../../card.ts';
import type { Json } from '../../json.ts';
import type { CardCodec, Confidence, ReadEnv } from '../dialect.ts';
import { readCardMembers, readInterface } from '../shared/card-members.ts';
import { attempt, isRaw, list, object } from '../shared/read.ts';

/** A2A 1.0.1 §8: a card is 1.0's if it has interfaces of that shape. */
export const card: CardCodec = {
  detect: (raw): Confidence => {
    if (!isRaw(raw)) return 'no';
    const interfaces = raw.supportedInterfaces ?? raw.supported_interfaces;
    return Array.isArray(interfaces) && interfaces.length > 0 ? 'path' : 'no';
  },
  read: (raw, env) => attempt(readCard, raw, env),
  write: (value) => value as unknown as Json,
};

export function readCard(raw: unknown, env: ReadEnv): AgentCard {
  const c = object(raw);
  const interfaces = list(c.supportedInterfaces ?? c.supported_interfaces, 'supportedInterfaces', readInterface, env);
  return readCardMembers(c, interfaces, env);
}
