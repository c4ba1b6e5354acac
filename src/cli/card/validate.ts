import type { FoundAgentCard } from '#client';
import { CURRENT_DIALECT, cardProblems } from '#protocol';
import { CliError } from '../command.ts';

const SHOWN_MAX = 8;

/** Everything in a card that the schema of A2A 1.0.1 does not allow, in one line. Empty for a valid card. */
export function problemsText(raw: unknown): string {
  const problems = cardProblems(raw);
  const shown = problems.slice(0, SHOWN_MAX).map(({ path, problem }) => `${path === '' ? 'the card' : path} ${problem}`);
  const more = problems.length > SHOWN_MAX ? `; and ${problems.length - SHOWN_MAX} more` : '';
  return `${shown.join('; ')}${more}`;
}

/** Checks a card against the schema of A2A 1.0.1, member by member. */
export function checkCard({ raw, dialect, title }: Pick<FoundAgentCard, 'raw' | 'dialect' | 'title'>): void {
  const problems = problemsText(raw);
  if (problems === '') return;
  const isCurrent = dialect === CURRENT_DIALECT;
  const old = isCurrent ? '' : ` (it is written for ${title})`;
  throw new CliError(`the card is not valid A2A 1.0${old}: ${problems}`, {
    code: 'A2ACLI_ERR_CARD_INVALID',
    hint: isCurrent ? 'tell the operator of the agent' : 'parley translate --to v10 --kind card rewrites it',
  });
}
