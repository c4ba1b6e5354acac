import { basename, resolve } from 'node:path';
import type { Agent } from '#protocol';
import type { RunOptions } from '../run/agent.ts';
import { runningAgent } from '../run/agent.ts';
import type { SkillDefinition } from '../skills.ts';
import type { ChosenLaunch } from './choose.ts';

/** Clients choose an agent by its skills (docs/dialects/v03.md, coding-agent-a2a). */
const SKILLS: readonly SkillDefinition[] = [
  {
    id: 'code-task',
    name: 'Execute coding task',
    description: 'Runs a coding task (edit, refactor, analyse, explain, test) in the working folder.',
    tags: ['coding', 'refactor', 'edit', 'test'],
    examples: ['Refactor the auth module to use JWT', 'Add a health check endpoint'],
  },
  {
    id: 'edit',
    name: 'Edit code',
    description: 'Changes files as asked, and returns the changes as artifacts with diffs.',
    tags: ['coding', 'edit'],
    examples: ['Rename getUser to findUser everywhere'],
  },
  {
    id: 'refactor',
    name: 'Refactor',
    description: 'Improves the structure of code without changing its behaviour.',
    tags: ['coding', 'refactor'],
    examples: ['Split src/server.ts into modules'],
  },
  {
    id: 'explain',
    name: 'Explain code',
    description: 'Reads code and says what it does, and why.',
    tags: ['coding', 'explain'],
    examples: ['Explain how the rate limiter works'],
  },
  {
    id: 'test',
    name: 'Write and run tests',
    description: 'Adds tests, runs them and fixes what fails.',
    tags: ['coding', 'test'],
    examples: ['Add unit tests for src/utils/date.ts'],
  },
  {
    id: 'review',
    name: 'Review',
    description: 'Looks for defects in code or in a change, and reports them.',
    tags: ['coding', 'review'],
    examples: ['Review the changes on this branch'],
  },
].map((skill) => ({ ...skill, inputModes: ['text/plain'], outputModes: ['text/plain', 'application/json', 'text/x-diff'] }));

/**
 * Makes an A2A agent of a coding CLI (Claude Code, Codex, Gemini CLI and others) that works in a
 * folder. By default every approval that the CLI asks for is passed on to the caller.
 */
export function createCodingAgent({ agent, launch }: ChosenLaunch, options: RunOptions = {}): Agent {
  const folder = basename(resolve(options.cwd ?? process.cwd()));
  const isPermissive = options.approvals?.otherwise === 'allow'; // `runningAgent` says then that it does not ask
  const asks = isPermissive
    ? ''
    : launch.asks
      ? ' Asks the caller for approval before actions that need it.'
      : ' In this mode it can’t ask for approval, so it skips actions that need one.';
  const card = {
    name: agent.name,
    description: `${agent.title} at work in ${folder}. Delegate coding tasks to it and watch, answer and cancel them.${asks}`,
    skills: SKILLS,
    inputModes: ['text/plain', 'application/json', 'image/*', 'text/*'],
    outputModes: ['text/plain', 'application/json', 'text/x-diff'],
  };
  return runningAgent(launch.driver(), card, options);
}
