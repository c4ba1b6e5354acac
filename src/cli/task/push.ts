import type { AgentConnection } from '../agent/connect.ts';
import { connect } from '../agent/connect.ts';
import { CliError, NOT_DECLARED } from '../command.ts';
import type { ContractSession } from '../contract/session.ts';

/** Calls only if the card declares push notifications (A2ACLI_VER_003). */
export async function pushConnection(session: ContractSession): Promise<AgentConnection> {
  const connection = await connect(session);
  if (connection.found === undefined || connection.found.card.capabilities.pushNotifications === true) return connection;
  throw new CliError(`${connection.found.card.name} sends no push notifications`, {
    code: NOT_DECLARED,
    hint: `follow the task instead: parley task get ${connection.agent} TASK --wait`,
  });
}
