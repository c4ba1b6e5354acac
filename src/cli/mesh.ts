import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';
import { gatewayCommand } from './mesh/gateway.ts';
import { listCommand } from './mesh/list.ts';

export const meshCommand: Command = commandGroup({
  name: 'mesh',
  summary: 'agents over a broker.',
  commands: [listCommand, gatewayCommand],
});
