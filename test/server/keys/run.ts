import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { AgentCard, Task } from '#protocol';
import type { ParleyConfig, Settings } from '#server';
import { commandAgent } from '../../../src/cli/serve/command-agents.ts';
import { findAgent } from '../../../src/cli/serve/find-agent.ts';
import { eventually } from '../../support/eventually.ts';
import { FAKE_ACP } from '../../support/fake-cli/programs.ts';
import { callContext, statusText, talkTo, textOf } from '../../support/talk.ts';
import type { Checks } from './serving.ts';
import { resolved } from './serving.ts';

type RunConfig = NonNullable<ParleyConfig['run']>;

const home = realpathSync(tmpdir());

function settingsOf(run: RunConfig): Settings {
  return resolved({ memory: true, run: { sandbox: 'plain', ...run } });
}

/** Sends one message to a command that is served with this configuration. */
async function ran(run: RunConfig, argv: readonly string[], metadata = {}): Promise<Task> {
  const { agent } = commandAgent(argv, settingsOf(run));
  if ('service' in agent) throw new Error('not an agent');
  const talk = await talkTo(agent);
  try {
    return await talk.task('hello', { metadata });
  } finally {
    await talk.stop();
  }
}

const sh = (script: string): readonly string[] => ['sh', '-c', script];
const ASKS = sh('read x; printf "Sure? "; read a; echo "got $a"');

function cardOf(run: RunConfig): AgentCard {
  return commandAgent(['true'], settingsOf(run)).agent.card;
}

/** Starts two runs in two folders, and returns how many of them wait. */
async function waits(concurrency: number): Promise<number> {
  const folders = ['parley-keys-a', 'parley-keys-b'].map((name) => join(home, name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const { agent } = commandAgent(sh('sleep 0.3'), settingsOf({ cwd: home, concurrency }));
  if ('service' in agent) throw new Error('not an agent');
  const talk = await talkTo(agent);
  const tasks = await Promise.all(folders.map((cwd) => talk.task('go', { metadata: { cwd } })));
  await talk.stop();
  return tasks.filter((task) => JSON.stringify(task.history).includes('Waiting for a place')).length;
}

/** Checks that need a program which may be missing. */
export const RUN_NEEDS: Readonly<Record<string, { readonly what: string; readonly isThere: boolean }>> = {
  'run.network': { what: 'bubblewrap', isThere: existsSync('/usr/bin/bwrap') },
};

/** Each check fails if the node ignores the setting. */
export const RUN_CHECKS: Checks = {
  'run.cwd': async () => expect(textOf(await ran({ cwd: home }, ['pwd']))).toBe(`${home}\n`),
  'run.roots': async () => {
    expect((await ran({ cwd: process.cwd() }, ['pwd'], { cwd: home })).status.state).toBe('TASK_STATE_REJECTED');
    expect(textOf(await ran({ cwd: process.cwd(), roots: [home] }, ['pwd'], { cwd: home }))).toBe(`${home}\n`);
  },
  'run.model': async () => {
    const agents = { fake: { argv: FAKE_ACP } };
    const { agent } = await findAgent('fake', settingsOf({ agents, model: 'm-9', environment: ['SESSIONS'] }));
    if ('service' in agent) throw new Error('not an agent');
    process.env['SESSIONS'] = join(home, 'parley-keys-sessions');
    const talk = await talkTo(agent);
    const task = await talk.task('hello');
    await talk.stop();
    delete process.env['SESSIONS'];
    expect(statusText(task)).toContain('there is no model m-9');
  },
  'run.questionStreams': async () => {
    const keeps = (questionStreams: 'open' | 'close'): unknown => {
      const { agent } = commandAgent(['true'], settingsOf({ questionStreams }));
      return 'questionsKeepStream' in agent && agent.questionsKeepStream;
    };
    expect([keeps('open'), keeps('close')]).toEqual([true, false]);
  },
  'run.approveAll': async () => {
    const task = await ran({ approvePattern: 'Sure', approveAll: true }, ASKS);
    expect(textOf(task)).toContain('got y');
    expect(cardOf({ approveAll: true }).description).toContain('without asking');
  },
  'run.rules': async () => expect(textOf(await ran({ approvePattern: 'Sure', rules: ['deny:command'] }, ASKS))).toContain('got n'),
  'run.approvalMs': async () => {
    const { agent } = commandAgent(ASKS, settingsOf({ approvePattern: 'Sure', approvalMs: 200 }));
    if ('service' in agent) throw new Error('not an agent');
    const talk = await talkTo(agent);
    const waiting = await talk.task('go');
    const text = async (): Promise<string> => textOf(await talk.service.get({ id: waiting.id }, callContext()));
    await eventually(async () => (await text()).includes('got n')).finally(() => talk.stop());
  },
  'run.approvePattern': async () => expect((await ran({ approvePattern: 'sure\\?' }, ASKS)).status.state).toBe('TASK_STATE_INPUT_REQUIRED'),
  'run.approveWord': async () => {
    const task = await ran({ approvePattern: 'Sure', approveAll: true, approveWord: 'yes please' }, ASKS);
    expect(textOf(task)).toContain('got yes please');
  },
  'run.sandbox': async () => {
    expect(JSON.stringify(cardOf({ sandbox: 'limits' }))).toContain('"sandbox":"limits"');
    expect(JSON.stringify(cardOf({ sandbox: 'plain' }))).toContain('"sandbox":"plain"');
  },
  'run.network': async () => {
    const devices = 'tail -n +3 /proc/net/dev | wc -l';
    expect(textOf(await ran({ sandbox: 'bubblewrap', network: false }, sh(devices))).trim()).toBe('1');
  },
  'run.trust': async () => {
    const cwd = join(home, 'parley-keys-trust');
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, '.evil.json'), '{}');
    const agents = { fake: { argv: ['sh', '-c', 'exit 9'], projectConfig: ['.evil.json'] } };
    const said = async (trust: boolean): Promise<string | undefined> => {
      const { agent } = await findAgent('fake', settingsOf({ agents, cwd, trust }));
      if ('service' in agent) throw new Error('not an agent');
      const talk = await talkTo(agent);
      const task = await talk.task('go');
      await talk.stop();
      return statusText(task);
    };
    expect(await said(false)).toContain('.evil.json in the working folder');
    expect(await said(true)).toContain('agent exited with code 9');
  },
  'run.environment': async () => {
    process.env['PARLEY_KEYS_CANARY'] = 'tweet';
    expect(textOf(await ran({}, sh('echo "[$PARLEY_KEYS_CANARY]"')))).toBe('[]\n');
    expect(textOf(await ran({ environment: ['PARLEY_KEYS_*'] }, sh('echo "[$PARLEY_KEYS_CANARY]"')))).toBe('[tweet]\n');
    delete process.env['PARLEY_KEYS_CANARY'];
  },
  'run.concurrency': async () => {
    expect(await waits(1)).toBe(1);
    expect(await waits(2)).toBe(0);
  },
  'run.timeoutMs': async () => expect(statusText(await ran({ timeoutMs: 200 }, ['sleep', '10']))).toBe('The agent took more than 200 ms.'),
  'run.idleMs': async () => expect(statusText(await ran({ idleMs: 200 }, ['sleep', '10']))).toBe('The agent was silent for 200 ms.'),
  'run.quietMs': async () => {
    const noted = async (quietMs: number): Promise<boolean> =>
      JSON.stringify((await ran({ quietMs }, ['sleep', '0.5'])).history).includes('No output from sleep for 100 ms.');
    expect([await noted(100), await noted(0)]).toEqual([true, false]);
  },
  'run.prompt': async () => expect(textOf(await ran({ prompt: 'argument' }, ['echo', 'it is']))).toBe('it is hello\n'),
  'run.output': async () => expect(textOf(await ran({ output: 'text' }, ['echo', '{"text":"x"}']))).toBe('{"text":"x"}\n'),
  'run.answerPath': async () => expect(textOf(await ran({ answerPath: 'a[0]' }, ['echo', '{"a":["x"]}']))).toBe('x'),
  'run.agents': async () => {
    const { agent } = await findAgent('mine', settingsOf({ agents: { mine: { argv: ['sh'], title: 'My own' } } }));
    expect(agent.card.description).toContain('My own at work in');
  },
};
