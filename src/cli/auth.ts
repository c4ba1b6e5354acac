import { loginCommand, logoutCommand } from './auth/login.ts';
import type { Command } from './command.ts';
import { commandFamily } from './command-group.ts';

export const authCommand: Command = commandFamily({
  name: 'auth',
  summary: 'get tokens for agents, and forget them.',
  commands: [loginCommand, logoutCommand],
  contract: true,
});
