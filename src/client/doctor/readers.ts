import type { Json } from '#protocol';
import { foreignMembers, isObject } from '#protocol';
import type { Finding } from './finding.ts';
import { note } from './finding.ts';

const SHOWN_MAX = 3;

/** Clients that can't read this card of 1.0, although it is right (docs/cards.md). */
export function readerFindings(card: Json): readonly Finding[] {
  if (!isObject(card)) return [];
  const others = foreignMembers(card);
  const requirements = Array.isArray(card['securityRequirements']) ? card['securityRequirements'] : [];
  return [
    ...(requirements.some(hasScopeObjects)
      ? [
          note('card-go', 'a2a-go 2 can’t read this card', {
            why: 'it takes the scopes in securityRequirements for a list; A2A 1.0 has an object there',
            fix: 'if the agent runs on Parley: give that client the address with ?card=scope-lists',
          }),
        ]
      : []),
    ...(others.length === 0
      ? []
      : [
          note('card-java-alpha', 'a2a-java before 1.0.0.CR1 can’t read this card', {
            why: `it refuses members that A2A 1.0 does not have: ${others.slice(0, SHOWN_MAX).join(', ')}${others.length > SHOWN_MAX ? ' and others' : ''}`,
            fix: 'if the agent runs on Parley: give that client the card path with ?card=strict',
          }),
        ]),
  ];
}

function hasScopeObjects(requirement: Json): boolean {
  return isObject(requirement) && isObject(requirement['schemes']) && Object.values(requirement['schemes']).some(isObject);
}
