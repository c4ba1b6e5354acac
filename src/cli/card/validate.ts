import { cardProblems } from '#protocol';
import { CliError } from '../command.ts';
import type { FoundCard } from '../wire/card-file.ts';

const SHOWN_MAX = 8;

/** Against the schema of 1.0.1, member by member. */
export function checkCard({ raw, dialect }: FoundCard): void {
  const problems = cardProblems(raw);
  if (problems.length === 0) return;
  const shown = problems.slice(0, SHOWN_MAX).map(({ path, problem }) => `${path === '' ? 'the card' : path} ${problem}`);
  const more = problems.length > SHOWN_MAX ? `; and ${problems.length - SHOWN_MAX} more` : '';
  const old = dialect.id === 'v10' ? '' : ` (it is written for ${dialect.title})`;
  throw new CliError(`the card is not valid A2A 1.0${old}: ${shown.join('; ')}${more}`, {
    code: 'A2ACLI_ERR_CARD_INVALID',
    hint: dialect.id === 'v10' ? 'tell those who publish it' : 'parley translate --to v10 --kind card rewrites it',
  });
}
