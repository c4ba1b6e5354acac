import type { Dialect } from '#protocol';
import { cardProblems } from '#protocol';
import { CliError } from '../command.ts';

const SHOWN_MAX = 8;

/** Everything that the schema of 1.0.1 does not allow, in one line; empty if nothing is. */
export function problemsText(raw: unknown): string {
  const problems = cardProblems(raw);
  const shown = problems.slice(0, SHOWN_MAX).map(({ path, problem }) => `${path === '' ? 'the card' : path} ${problem}`);
  const more = problems.length > SHOWN_MAX ? `; and ${problems.length - SHOWN_MAX} more` : '';
  return `${shown.join('; ')}${more}`;
}

/** Against the schema of 1.0.1, member by member. */
export function checkCard({ raw, dialect }: { readonly raw: unknown; readonly dialect: Dialect }): void {
  const problems = problemsText(raw);
  if (problems === '') return;
  const isCanonical = dialect.id === 'v10';
  const old = isCanonical ? '' : ` (it is written for ${dialect.title})`;
  throw new CliError(`the card is not valid A2A 1.0${old}: ${problems}`, {
    code: 'A2ACLI_ERR_CARD_INVALID',
    hint: isCanonical ? 'tell those who publish it' : 'parley translate --to v10 --kind card rewrites it',
  });
}
