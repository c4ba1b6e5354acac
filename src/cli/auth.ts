import { loginCommand, logoutCommand } from './auth/login.ts';
import type { Command } from './command.ts';
import { commandGroup } from './command-group.ts';

export const authCommand: Command = commandGroup({
  name: 'auth',
  summary: 'get tokens for agents, and forget them.',
  commands: [loginCommand, logoutCommand],
});
