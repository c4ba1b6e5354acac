import type { Agent } from '#protocol';
import type { RunOptions } from '../run/agent.ts';
import { runningAgent } from '../run/agent.ts';
import { commandDriver } from './command.ts';
import type { CommandOptions } from './options.ts';

/** Any program as an agent: it gets the message, and what it writes is the answer. */
export function createCommandAgent(command: CommandOptions, options: RunOptions = {}): Agent {
  const driver = commandDriver(command);
  const card = {
    name: driver.name,
    description: `Runs ${driver.name} on this machine and answers with what it writes.`,
    skills: [
      {
        id: 'run',
        name: `Run ${driver.name}`,
        description: `Hands the message to ${driver.name}, streams what it writes, and asks where it asks.`,
        tags: ['command'],
      },
    ],
    outputModes: ['text/plain', 'application/json'],
  };
  return runningAgent(driver, card, options);
}
