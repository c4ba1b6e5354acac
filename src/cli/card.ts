import { getCommand } from './card/get.ts';
import { skillsCommand } from './card/skills.ts';
import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';

export const cardCommand: Command = commandGroup({
  name: 'card',
  summary: 'look at what an agent says of itself.',
  commands: [getCommand, skillsCommand],
  forAddress: getCommand,
});
