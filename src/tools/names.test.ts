import { describe, expect, it } from 'vitest';
import { createCard } from '#agents';
import { distinct, fits, skillsOf, toolName } from './names.ts';

const skill = (id: string) => ({ id, name: id, description: '', tags: [] });

describe('names of tools', () => {
  it.each([
    ['a2a__agent__skill', 'Research Agent!', 'search_papers', 'a2a__research_agent__search_papers'],
    ['a2a__agent__skill', '--Ünï--', 'Do It', 'a2a__n__do_it'],
    ['a2a_agent', 'partner bot.v2', undefined, 'a2a_partner_bot_v2'],
    ['a2a_agent', 'partner-bot', undefined, 'a2a_partner-bot'],
    ['peer_agent', 'Order-Validator', undefined, 'peer_Order_Validator'],
  ] as const)('%s: %s, %s', (scheme, agent, id, name) => {
    expect(toolName(scheme, { agent, ...(id === undefined ? {} : { skill: skill(id) }) })).toBe(name);
  });

  it('are at most 64 characters long and stay unique', () => {
    const one = toolName('a2a_agent', { agent: `${'x'.repeat(80)}1` });
    const two = toolName('a2a_agent', { agent: `${'x'.repeat(80)}2` });
    expect(one).toHaveLength(64);
    expect(one).not.toBe(two);
    expect(distinct('n'.repeat(64), new Set(['n'.repeat(64)]))).toBe(`${'n'.repeat(62)}_2`);
  });
});

describe('choosing skills', () => {
  const card = createCard({
    name: 'x',
    description: '',
    skills: ['read_file', 'write_file', 'search'].map((id) => ({ id, description: id })),
  });
  const ids = (filter: Parameters<typeof skillsOf>[1]) => skillsOf(card, filter).map(({ id }) => id);

  it('uses all skills, the allowed ones, or those not blocked', () => {
    expect(ids({})).toEqual(['read_file', 'write_file', 'search']);
    expect(ids({ allow: ['*_file'] })).toEqual(['read_file', 'write_file']);
    expect(ids({ block: ['write*'] })).toEqual(['read_file', 'search']);
  });

  it('prefers allow to block', () => expect(ids({ allow: ['search'], block: ['search'] })).toEqual(['search']));

  it.each([
    ['abc', 'abc', true],
    ['abc', 'a*c', true],
    ['abc', '*', true],
    ['abc', 'ab', false],
    ['aXbYc', 'a*b*c', true],
    ['ab', 'a*ab', false],
    ['abab', '*ab*ab', true],
  ])('%s matches %s: %s', (text, pattern, is) => expect(fits(text, pattern)).toBe(is));
});
