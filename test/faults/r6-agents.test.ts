import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Task } from '#protocol';
import { eventually } from '../support/eventually.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { chunksText, freshName, sendInit, textOf } from './client.ts';
import { childFile } from './parley.ts';
import { operate } from './replicas/audit.ts';
import { startFleet } from './replicas/fleet.ts';
import { times } from './size.ts';

/** TASK_STATE_FAILED, as it is stored. */
const FAILED = 6;

suiteNeeding('postgresql', hasPostgres, 'R6: nodes with different agents on one database', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
  }, 120_000);
  afterAll(() => postgres.stop());

  /** Sends to a conversation that the caller names, so that its cell is anywhere. Returns the text of the task, or how the send is refused. */
  const answerTo = async (url: string): Promise<string> => {
    const contextId = freshName('job-agents');
    const response = await fetch(`${url}/message:send`, {
      ...sendInit('chunks=2', { contextId, messageId: contextId }),
      signal: AbortSignal.timeout(60_000),
    });
    const body = await response.text();
    if (response.status === 200) return textOf((JSON.parse(body) as { task: Task }).task);
    return `${response.status} ${response.headers.has('retry-after')} ${/start all nodes with the same agents/.test(body)}`;
  };

  it('let no other agent answer, and move cells to a node that has the agent', { timeout: 300_000 }, async () => {
    // The third one has another first agent, too.
    const fleet = await startFleet(postgres, { database: 'different', data, args: (at) => (at < 2 ? ['script', 'echo'] : ['echo']) });
    await fleet.allReady();
    // A third of the cells belongs to the third node, which hands over those that are asked for.
    for (let at = 0; at < times(24, 240); at += 1)
      expect(await answerTo(`${fleet.urlOf(at % 2)}${at % 4 < 2 ? '' : '/agents/script'}`)).toBe(chunksText(2));
    for (let at = 0; at < times(6, 60); at += 1) expect(await answerTo(`${fleet.urlOf(at % 3)}/agents/echo`)).toBe('chunks=2');
    // Without the third one, the others own all cells.
    await fleet.endAt(2, 'SIGTERM', false);
    for (let at = 0; at < times(6, 60); at += 1)
      await eventually(async () => expect(await answerTo(fleet.urlOf(at % 2))).toBe(chunksText(2)));
    expect(await operate(fleet.database, 'SELECT id FROM parley.tasks WHERE state = $1', [FAILED])).toEqual([]);
    await fleet.stop();
  });

  it('are seen to answer with another agent in the control, whose third node has one of the same name', { timeout: 300_000 }, async () => {
    const fleet = await startFleet(postgres, {
      database: 'same_name',
      data,
      args: (at) => [at < 2 ? 'script' : childFile('other-script.ts')],
    });
    await fleet.allReady();
    // Nodes compare names. A third of the cells belongs to the third node.
    const answers = new Set<string>();
    await eventually(async () => {
      answers.add(await answerTo(fleet.urlOf(0)));
      return answers.size === 2;
    });
    expect(answers).toEqual(new Set([chunksText(2), 'another agent']));
    await fleet.stop();
  });
});
