import type { Task, TaskId } from '#protocol';
import { isA2AError } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import { connect } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { printTask } from '../contract/results.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import { GLOBALS, STREAM } from '../flags/globals.ts';
import { EXITS } from './exits.ts';

export const cancelCommand: Command = contractCommand(
  {
    name: 'task cancel',
    summary: 'cancel a task and print what became of it. A task that is canceled already stays so.',
    args: [{ name: 'TASK' }],
    flags: [STREAM],
    globals: GLOBALS,
    examples: ['parley task cancel -a agents.example.org 5d1c0c9e'],
    exits: EXITS,
  },
  async (session) => {
    const connection = await connect(session);
    const task = await connection.run(() => canceled(session, connection), { continued: true });
    printTask(session, connection, task);
    return 0;
  },
);

/** Canceling twice is not an error: an agent that refuses because the task is canceled has done its work. */
async function canceled(session: ContractSession, connection: AgentConnection): Promise<Task> {
  const id = (session.words[0] ?? '') as TaskId;
  try {
    return await connection.service.cancel({ id }, connection.ctx());
  } catch (thrown) {
    if (!isA2AError(thrown) || thrown.kind !== 'TASK_NOT_CANCELABLE') throw thrown;
    const task = await connection.service.get({ id }, connection.ctx());
    if (task.status.state === 'TASK_STATE_CANCELED') return task;
    session.note(`warning: the task is ${task.status.state.replace('TASK_STATE_', '')} and stays so\n`);
    throw thrown;
  }
}
