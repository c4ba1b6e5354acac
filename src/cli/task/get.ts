import type { TaskId } from '#protocol';
import { connect } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { usage } from '../command.ts';
import { printTask, warnOf } from '../contract/results.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import { poll } from '../contract/wait.ts';
import { GLOBALS, POLL, STREAM, WAIT } from '../flags/globals.ts';
import { switchOf, textOf } from '../flags/parse.ts';
import { EXITS } from './exits.ts';

export const getCommand: Command = contractCommand(
  {
    name: 'task get',
    summary: 'print a task: its state, its artifacts and its history.',
    args: [{ name: 'TASK' }],
    flags: [
      { name: 'history', kind: 'text', value: 'N', doc: 'With the last N messages.' },
      { ...WAIT, doc: 'Ask again until the task is done or needs you.' },
      POLL,
      STREAM,
    ],
    globals: GLOBALS,
    examples: ['parley task get -a agents.example.org 5d1c0c9e --wait --timeout 5m'],
    exits: EXITS,
  },
  async (session) => {
    const id = (session.words[0] ?? '') as TaskId;
    const historyLength = historyOf(session);
    const request = historyLength === undefined ? { id } : { id, historyLength };
    const connection = await connect(session);
    // `A2ACLI_WAIT` sets the default of `send`. Here only the flag starts polling.
    const waits = switchOf(session.parsed, 'wait');
    const task = await connection.run(
      () => (waits ? poll(session, connection, request) : connection.service.get(request, connection.ctx())),
      {
        continued: true,
      },
    );
    printTask(session, connection, task, { history: historyLength !== undefined });
    warnOf(session, task.status.state);
    return 0;
  },
);

function historyOf({ parsed }: ContractSession): number | undefined {
  const text = textOf(parsed, 'history');
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw usage(`--history: ${text} is no number of messages`, 'example: --history 10');
  return Number(text);
}
