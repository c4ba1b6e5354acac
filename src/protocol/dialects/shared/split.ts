import type { AgentCard, SecurityRequirement } from '../../card.ts';
import type { Mutable } from '../../json.ts';
import { FLOWS } from './security.ts';

/**
 * Adjusts the requirements of a card that has been read. Where `readSchemes` split one scheme into
 * several, a requirement for the one is met by any of them. It becomes several requirements, which 1.0
 * reads as "or".
 */
export function withSplitRequirements(card: AgentCard): AgentCard {
  const names = new Set(Object.keys(card.securitySchemes ?? {}));
  const alternatives = (name: string): readonly string[] => {
    if (names.has(name)) return [name];
    const split = FLOWS.map((flow) => `${name}.${flow}`).filter((other) => names.has(other));
    return split.length > 0 ? split : [name];
  };
  const widened = (requirements: readonly SecurityRequirement[]) =>
    requirements.flatMap(({ schemes }) => everyChoice(schemes, alternatives).map((chosen) => ({ schemes: chosen })));
  const out: Mutable<AgentCard> = { ...card };
  if (card.securityRequirements !== undefined) out.securityRequirements = widened(card.securityRequirements);
  out.skills = card.skills.map((skill) =>
    skill.securityRequirements === undefined ? skill : { ...skill, securityRequirements: widened(skill.securityRequirements) },
  );
  return out;
}

type Schemes = SecurityRequirement['schemes'];
const CHOICES_MAX = 64;

/**
 * All combinations of one alternative per scheme, up to CHOICES_MAX. Counts through the combinations,
 * the last scheme fastest, so that each one is built once: a hostile card may name thousands of
 * schemes.
 */
function everyChoice(schemes: Schemes, alternatives: (name: string) => readonly string[]): readonly Schemes[] {
  const choices = Object.entries(schemes).map(([name, scopes]) => ({ names: alternatives(name), scopes }));
  const count = choices.reduce((product, { names }) => Math.min(product * names.length, CHOICES_MAX), 1);
  return Array.from({ length: count }, (_, at) => {
    let left = at;
    const chosen = choices.toReversed().map(({ names, scopes }) => {
      const name = names[left % names.length] ?? '';
      left = Math.floor(left / names.length);
      return [name, scopes] as const;
    });
    return Object.assign(Object.create(null), Object.fromEntries(chosen.reverse()));
  });
}
