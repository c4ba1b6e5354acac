import type { Command } from './command.ts';
import { commandFamily } from './command-group.ts';
import { gatewayCommand } from './mesh/gateway.ts';
import { listCommand } from './mesh/list.ts';

export const meshCommand: Command = commandFamily({
  name: 'mesh',
  summary: 'agents over a broker.',
  commands: [listCommand, gatewayCommand],
});
