import type { AgentCard, SecurityRequirement } from '../../card.ts';
import type { Mutable } from '../../json.ts';
import { FLOWS } from './security.ts';

/**
 * Where `readSchemes` made several schemes of one, a requirement that names the one is met by any of them: it becomes several
 * requirements, which 1.0 reads as "or". Goes over a card that has been read.
 */
export function withSplitRequirements(card: AgentCard): AgentCard {
  const names = Object.keys(card.securitySchemes ?? {});
  const alternatives = (name: string): readonly string[] => {
    if (names.includes(name)) return [name];
    const split = names.filter((other) => FLOWS.some((flow) => other === `${name}.${flow}`));
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

/** One choice for each scheme in all combinations; a card that would make too many keeps its first ones. */
function everyChoice(schemes: Schemes, alternatives: (name: string) => readonly string[]): readonly Schemes[] {
  let choices: Schemes[] = [Object.create(null)];
  for (const [name, scopes] of Object.entries(schemes)) {
    choices = choices.flatMap((choice) =>
      alternatives(name).map((one) => Object.assign(Object.create(null) as object, choice, { [one]: scopes })),
    );
    choices = choices.slice(0, CHOICES_MAX);
  }
  return choices;
}
