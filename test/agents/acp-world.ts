import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '#protocol';
import { acpDriver } from '../../src/agents/acp/driver.ts';
import type { RunOptions } from '../../src/agents/run/agent.ts';
import { runningAgent } from '../../src/agents/run/agent.ts';
import { FAKE_ACP } from '../support/fake-cli/programs.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { Talk } from '../support/talk.ts';
import { talkTo } from '../support/talk.ts';

const folder = realpathSync(scratchFolder());
let count = 0;

export interface World {
  readonly agent: () => Agent;
  readonly cwd: string;
  /** Where the sessions are stored. */
  readonly state: string;
}

/** A folder, its sessions, and an agent that works in it. A second call of `agent` is the agent after a restart. */
export function world(options: RunOptions = {}, env: Readonly<Record<string, string>> = {}): World {
  count += 1;
  const cwd = join(folder, `w${count}`);
  const state = join(folder, `s${count}`);
  mkdirSync(cwd);
  const driver = acpDriver({
    name: 'fake',
    argv: FAKE_ACP,
    ...{ environment: ['SESSIONS', 'NO_LOAD', 'NOT_LOGGED_IN', 'MODE'], homePaths: [], projectConfig: [] },
  });
  const passed = { ...process.env, SESSIONS: join(state, 'fake'), ...env };
  return {
    cwd,
    state,
    agent: () => runningAgent(driver, { name: 'fake', description: 'Fake.' }, { cwd, state, sandbox: 'plain', env: passed, ...options }),
  };
}

export async function talking<Result>(agent: Agent, act: (talk: Talk) => Promise<Result>): Promise<Result> {
  const talk = await talkTo(agent);
  try {
    return await act(talk);
  } finally {
    await talk.stop();
  }
}
