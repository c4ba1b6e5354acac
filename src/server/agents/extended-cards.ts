import type { Agent, AgentCard } from '#protocol';
import type { Log } from '../observability/log.ts';
import type { HandlerOptions } from '../options.ts';
import type { AgentLike } from './served-agent.ts';

/** Which extended cards a node serves. A2A 1.0.1 §13.3: a caller that nobody has authenticated gets none. */
export interface ExtendedCards {
  isHidden(agent: Pick<Agent, 'extendedCardForAll'> | undefined): boolean;
  /** The card does not mention its extended form. */
  isUnmentioned(card: AgentCard): boolean;
}

export function extendedCards(
  { auth = [], authenticate }: Pick<HandlerOptions, 'auth' | 'authenticate'>,
  agents: ReadonlyMap<string, AgentLike>,
  log: Log,
): ExtendedCards {
  const isOpen = authenticate === undefined && auth.length === 0;
  const shared = [...agents.values()].filter((agent) => 'extendedCardForAll' in agent && agent.extendedCardForAll === true);
  if (isOpen && shared.length > 0)
    log.warn('the extended card is given to callers that nobody has authenticated; use this for conformance kits only');
  return {
    isHidden: (agent) => isOpen && agent?.extendedCardForAll !== true,
    // By name: a node that sends no notifications serves a copy of the card.
    isUnmentioned: (card) => isOpen && !shared.some((agent) => agent.card.name === card.name),
  };
}
