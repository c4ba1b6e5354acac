import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';
import { cancelCommand } from './task/cancel.ts';
import { downloadCommand } from './task/download.ts';
import { getCommand } from './task/get.ts';
import { listCommand } from './task/list.ts';
import { pushConfigCommand } from './task/push-config.ts';
import { searchCommand } from './task/search.ts';
import { subscribeCommand } from './task/subscribe.ts';

export const taskCommand: Command = commandGroup({
  name: 'task',
  summary: 'look at the tasks of an agent, and change them.',
  commands: [getCommand, listCommand, searchCommand, cancelCommand, subscribeCommand, downloadCommand, pushConfigCommand],
  forAddress: listCommand,
});
