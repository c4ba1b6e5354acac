import type { TaskEvent, TaskId } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import { connect } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { CliError, NOT_DECLARED } from '../command.ts';
import { printEnd, printEvent, printTask, warnOf } from '../contract/results.ts';
import { canStream, pollInstead, refusesSubscriptions, resubscribe } from '../contract/send-message.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import type { TaskProgress } from '../contract/wait.ts';
import { follow, nothingSeen, poll } from '../contract/wait.ts';
import { GLOBALS, POLL, STREAM } from '../flags/globals.ts';
import { EXITS } from './exits.ts';

export const subscribeCommand: Command = contractCommand(
  {
    name: 'task subscribe',
    summary: 'follow a task by its stream until it is done or needs you.',
    args: [{ name: 'TASK' }],
    flags: [STREAM, POLL],
    globals: GLOBALS,
    details: 'With --stream each event is printed as it comes; otherwise only the task at the end. A stream that breaks is taken up again.',
    examples: ['parley task subscribe -a agents.example.org 5d1c0c9e --stream -o json'],
    exits: EXITS,
  },
  async (session) => {
    const connection = await connect(session);
    // The card must declare streaming (A2ACLI_VER_003).
    if (connection.found !== undefined && !canStream(connection)) {
      throw new CliError(`${connection.found.card.name} does not stream`, {
        code: NOT_DECLARED,
        hint: `ask for the task instead: parley task get ${connection.agent} ${session.words[0]} --wait`,
      });
    }
    const seen = await connection.run(() => subscribe(session, connection), { continued: true });
    warnOf(session, seen.state);
    return 0;
  },
);

/** Follows the task. Subscribes again after a lost connection. */
async function subscribe(session: ContractSession, connection: AgentConnection): Promise<TaskProgress> {
  const id = (session.words[0] ?? '') as TaskId;
  const seen = { ...nothingSeen(), id };
  const onEvent = (event: TaskEvent): void => {
    if (session.stream) printEvent(session, connection, event);
  };
  try {
    const ended = await follow(connection.service.subscribe({ id }, connection.ctx()), seen, onEvent);
    if (ended === 'cut') await resubscribe(session, connection, { seen, onEvent });
  } catch (thrown) {
    if (!refusesSubscriptions(thrown)) throw thrown;
    await pollInstead(session, connection, { seen, onEvent });
  }
  if (session.stream) printEnd(session, connection, seen);
  else {
    const task = await poll(session, connection, { id });
    seen.state = task.status.state;
    printTask(session, connection, task);
  }
  return seen;
}
