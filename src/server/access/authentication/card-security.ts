import type { AgentCard, SecurityScheme } from '#protocol';
import type { AuthMethod } from './auth-method.ts';

/** Makes agent cards declare exactly the security schemes that the node enforces. */
export interface CardSecurity {
  card(card: AgentCard): AgentCard;
}

/**
 * Leaves cards as they are. For a custom `authenticate` function: only its author knows what it
 * enforces.
 */
export const AS_DECLARED: CardSecurity = { card: (card) => card };

/** Replaces the schemes of cards by those of the methods. Without methods the cards declare none. */
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
