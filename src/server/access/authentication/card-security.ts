import type { AgentCard, SecurityScheme } from '#protocol';
import type { AuthMethod } from './authenticator.ts';

/** What the gate enforces, for the cards: exactly that, and nothing that nobody asks for (reference/faults §4). */
export interface CardSecurity {
  card(card: AgentCard): AgentCard;
}

/** Somebody's own gate enforces what the agent's own card says; only they can know. */
export const AS_DECLARED: CardSecurity = { card: (card) => card };

/** No methods: nothing is enforced, so nothing is declared. */
export function cardSecurityOf(methods: readonly AuthMethod[]): CardSecurity {
  const schemes: Record<string, SecurityScheme> = Object.assign({}, ...methods.map((method) => method.schemes));
  const requirements = Object.keys(schemes).map((name) => ({ schemes: { [name]: {} } }));
  return {
    card: ({ securitySchemes: _, securityRequirements: __, ...card }) => {
      const skills = card.skills.map(({ securityRequirements: ___, ...skill }) => skill);
      if (requirements.length === 0) return { ...card, skills };
      return { ...card, skills, securitySchemes: schemes, securityRequirements: requirements };
    },
  };
}
