import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseLaunch, createCodingAgent, createCommandAgent, knownAgents } from '#agents';
import type { Agent, TaskEvent, TaskId } from '#protocol';
import { createUserMessage, getTextFromMessage } from '#protocol';
import type { RunOptions } from '../../src/agents/run/agent.ts';
import { fakePrograms } from '../support/fake-cli/programs.ts';
import { expectFigure } from '../support/figures.ts';
import { scratchFolder } from '../support/scratch.ts';
import { callContext, statusText, talkTo } from '../support/talk.ts';

const folder = realpathSync(scratchFolder());
const agents = knownAgents();
/** Every known CLI, each retrying its model for ever without output. */
const { env } = fakePrograms(
  new Set(agents.flatMap(({ launches }) => launches.map(({ argv }) => argv[0] as string))),
  () => 'echo "retrying in 8 s: connect ECONNREFUSED" >&2\nexec sleep 4761',
);
let count = 0;

function options(more: RunOptions = {}): RunOptions {
  count += 1;
  const cwd = join(folder, `w${count}`);
  mkdirSync(cwd);
  return { cwd, state: join(folder, `s${count}`), sandbox: 'plain', env, quietMs: 300, ...more };
}

/** The notes until the run ends or is canceled, some time after the first note, so that a second note would be seen. */
async function notes(
  agent: Agent,
  { afterNoteMs, afterMs = 90_000 }: { readonly afterNoteMs: number; readonly afterMs?: number },
): Promise<readonly string[]> {
  const talk = await talkTo(agent);
  const said: string[] = [];
  let id: TaskId | undefined;
  const cancel = (): void => void (id === undefined ? undefined : talk.cancel(id).catch(() => undefined));
  const late = setTimeout(cancel, afterMs);
  const note = ({ task, statusUpdate }: TaskEvent): void => {
    id ??= task?.id;
    const { message } = statusUpdate?.status ?? {};
    if (statusUpdate?.metadata?.['event'] !== 'note' || message === undefined) return;
    if (said.push(getTextFromMessage(message)) === 1) setTimeout(cancel, afterNoteMs);
  };
  for await (const batch of talk.service.stream({ message: createUserMessage('go') }, callContext()))
    for (const { event } of batch) note(event);
  clearTimeout(late);
  await talk.stop();
  return said;
}

/**
 * On a busy machine a program may be late by more than the time that it is given. Then the check is repeated with longer times, and the last
 * one counts.
 */
async function patiently(check: (ms: number) => Promise<void>): Promise<void> {
  for (const ms of [800, 4000]) {
    try {
      return await check(ms);
    } catch {
      // Late, or wrong: a longer time decides.
    }
  }
  await check(20_000);
}

describe('a coding CLI that can’t reach its model', () => {
  for (const { name, launches } of agents) {
    for (const via of new Set(launches.map((launch) => launch.via))) {
      it.concurrent(`is reported once, with what to check (${name}:${via})`, async ({ expect }) => {
        const chosen = chooseLaunch(`${name}:${via}`, { env });
        if (chosen?.program === undefined) throw new Error(`no ${name}`);
        await patiently(async (quietMs) => {
          const [word, ...more] = await notes(createCodingAgent(chosen, options({ quietMs })), { afterNoteMs: 1.5 * quietMs });
          expect(more).toEqual([]);
          expect(word).toContain(
            `No output from ${chosen.launch.driver().name} for ${quietMs < 1000 ? `${quietMs} ms` : `${quietMs / 1000} s`}.`,
          );
          expect(word).toContain('unable to reach its model: check that');
          expect(word).toContain('It last wrote to standard error: retrying in 8 s: connect ECONNREFUSED');
        });
      });
    }
  }

  it('is killed at its idle timeout: the notice does not count as output', async () => {
    const chosen = chooseLaunch('claude:native', { env });
    if (chosen === undefined) throw new Error('no claude');
    const talk = await talkTo(createCodingAgent(chosen, options({ defaults: { idleMs: 700 } })));
    const began = performance.now();
    const task = await talk.task('go');
    await talk.stop();
    expect(statusText(task)).toBe('The agent was silent for 700 ms.');
    expect(JSON.stringify(task.history)).toContain('No output from claude');
    expectFigure(performance.now() - began, { below: 5000 });
  });

  it('causes no notice if notices are off', async () => {
    const chosen = chooseLaunch('claude:native', { env });
    if (chosen === undefined) throw new Error('no claude');
    expect(await notes(createCodingAgent(chosen, options({ quietMs: 0 })), { afterNoteMs: 0, afterMs: 1500 })).toEqual([]);
  });
});

describe('any other program', () => {
  const command = (script: string, more: RunOptions = {}): Agent =>
    createCommandAgent({ argv: ['sh', '-c', script], name: 'mine' }, options(more));

  it('gets a notice with another text, because it may have no model', async () => {
    expect(await notes(command('sleep 4762'), { afterNoteMs: 700 })).toEqual([
      'No output from mine for 300 ms. It may be at work, or waiting for something that does not come.',
    ]);
  });

  it('causes no notice while it writes now and then', async () => {
    await patiently(async (quietMs) => {
      const steps = `for i in 1 2 3 4 5 6 7 8; do echo $i; sleep ${quietMs / 6000}; done`;
      expect(await notes(command(steps, { quietMs }), { afterNoteMs: 0 })).toEqual([]);
    });
  });

  it('causes no notice while its tool runs or it waits for its caller', async () => {
    const tool = (type: string): string => JSON.stringify({ type, id: 't', tool_use_id: 't', tool: 'Bash', name: 'Bash', output: 'ok' });
    await patiently(async (quietMs) => {
      const script = `echo '${tool('tool_use')}'; sleep ${quietMs / 400}; echo '${tool('tool_result')}'; echo '{"text":"done"}'`;
      expect(await notes(command(script, { quietMs }), { afterNoteMs: 0 })).toEqual([]);
      const asking = createCommandAgent(
        { argv: ['sh', '-c', 'read x; echo "Go on? [y/N]"; read y; echo $y'], approvePattern: /\[y\/N\]/ },
        options({ quietMs }),
      );
      expect(await notes(asking, { afterNoteMs: 0, afterMs: 3 * quietMs })).toEqual([]);
    });
  });
});
