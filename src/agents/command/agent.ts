import type { Agent } from '#protocol';
import type { RunOptions } from '../run/agent.ts';
import { runningAgent } from '../run/agent.ts';
import { commandDriver } from './command.ts';
import type { CommandOptions } from './options.ts';

/**
 * Makes an agent of any program: the program gets the message, and its output is the answer.
 *
 * ```ts
 * const wc = createCommandAgent({ argv: ['wc', '-w'] });
 * ```
 */
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
