import { CliError } from '../command.ts';
import type { Session } from '../contract/session.ts';
import type { Connection } from '../wire/connect.ts';
import { connect } from '../wire/connect.ts';

/** Push on the card, or no call at all (A2ACLI_VER_003). */
export async function pushConnection(session: Session): Promise<Connection> {
  const connection = await connect(session);
  if (connection.found === undefined || connection.found.card.capabilities.pushNotifications === true) return connection;
  throw new CliError(`${connection.found.card.name} sends no push notifications`, {
    code: 'PushNotificationNotSupportedError',
    hint: `follow the task instead: parley task get ${connection.agent} TASK --wait`,
  });
}
