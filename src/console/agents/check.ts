import type { AgentCard } from '#protocol';
import { cardProblems } from '#protocol';

export interface Warning {
  readonly level: 'bad' | 'warn';
  readonly text: string;
}

/** What is wrong with a card, in plain words: what the schema forbids, and what it allows and clients stumble over. */
export function warningsFor(card: AgentCard, raw: unknown, url: string): readonly Warning[] {
  const found: Warning[] = cardProblems(raw).map(({ path, problem }) => ({
    level: 'bad',
    text: `${path === '' ? 'The card' : path} ${problem}.`,
  }));
  const warn = (text: string): void => void found.push({ level: 'warn', text });
  if (card.supportedInterfaces.length === 0) found.push({ level: 'bad', text: 'It names no interface, so nobody knows where to call it.' });
  if (card.description.trim() === '') warn('It says nothing of what it does: other agents choose by the description.');
  if (card.skills.length === 0) warn('It names no skill: agents that look for one pass it by.');
  for (const skill of card.skills) if ((skill.examples ?? []).length === 0) warn(`The skill ${skill.id} has no example.`);
  const origins = new Set(card.supportedInterfaces.map((one) => originOf(one.url)));
  if (url !== '' && origins.size > 0 && !origins.has(originOf(url))) {
    warn(`It points to ${[...origins].join(', ')}, elsewhere than where the card is: clients do not send credentials there.`);
  }
  for (const { url: address } of card.supportedInterfaces) {
    if (address.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(address)) warn(`${address} is not encrypted.`);
  }
  const asks = Object.keys(card.securitySchemes ?? {}).length > 0;
  if (asks && (card.securityRequirements ?? []).length === 0)
    warn('It names ways to show who you are, and does not say that any is required.');
  return found;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
