import { expect, it } from 'vitest';
import { chooseLaunch, createCodingAgent, helpMentions } from '#agents';
import { fakePrograms } from '../support/fake-cli/programs.ts';

const via = (help: string): string | undefined => {
  const { env } = fakePrograms(['cursor-agent'], () => `echo '${help}'`);
  return chooseLaunch('cursor', { env, knowsArgument: helpMentions })?.launch.via;
};

it('starts Cursor’s own way if the installed CLI has no mode for the Agent Client Protocol', () => {
  expect(via('Commands: login, logout, mcp, resume')).toBe('native');
  expect(via('Commands:\n  acp   Agent Client Protocol\n  login')).toBe('acp');
});

it('says on the card of a permissive agent only that it does not ask', () => {
  const { env } = fakePrograms(['cursor-agent'], () => 'true');
  const chosen = chooseLaunch('cursor', { env });
  if (chosen === undefined) throw new Error('no launch');
  const description = (otherwise: 'allow' | 'ask'): string => createCodingAgent(chosen, { approvals: { otherwise } }).card.description;
  expect(description('allow')).toContain('It does everything without asking.');
  expect(description('allow')).not.toContain('Asks the caller');
  expect(description('ask')).toContain('Asks the caller');
});
