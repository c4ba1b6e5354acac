import type { AgentSkill, Json } from '#protocol';
import { findCard } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { printJson } from '../contract/results.ts';
import { contractCommand } from '../contract/session.ts';
import { GLOBALS } from '../flags/globals.ts';
import { field } from '../output/labels.ts';
import { EXITS } from '../task/exits.ts';
import { withAgent } from './agent-arg.ts';

export const skillsCommand: Command = contractCommand(
  {
    name: 'card skills',
    summary: 'list the skills of an agent.',
    args: [{ name: 'AGENT', optional: true }],
    flags: [],
    globals: GLOBALS,
    details: 'AGENT is short for --agent-card. With -o json the skills as the card has them, in one array.',
    examples: ['parley card skills agents.example.org'],
    exits: EXITS,
  },
  async (session) => {
    const { card, raw } = await findCard(withAgent(session));
    if (session.json) printJson(session, rawSkills(raw) ?? (card.skills as unknown as Json));
    else session.out(card.skills.map(skillText).join('\n'));
    return 0;
  },
);

function rawSkills(raw: unknown): Json | undefined {
  return typeof raw === 'object' && raw !== null && 'skills' in raw ? (raw.skills as Json) : undefined;
}

/** One skill, a field on each line. */
function skillText({ id, name, description, tags, examples }: AgentSkill): string {
  return (
    field('Skill', id) +
    field('Name', name) +
    field('Description', description) +
    (tags.length === 0 ? '' : field('Tags', tags.join(', '))) +
    (examples ?? []).map((example) => field('Example', example)).join('')
  );
}
