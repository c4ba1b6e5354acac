import type { Loss } from '../dialect.ts';
import { DRAFT_LOSSES, namedTaskLosses } from '../shared/losses.ts';

const ALIAS: Loss = {
  field: 'SendRequest.alias',
  reason: 'the server names every task',
  clause: 'A2A 1.0.1 §3.4.2: ids that the client chooses for new tasks are not supported',
};

/** What A2A 1.0 can't express: the names that callers give tasks, and the 1.1 draft. */
export const losses: readonly Loss[] = [ALIAS, ...DRAFT_LOSSES];

/** The same with the 1.1 draft's generation. */
export const generationLosses: readonly Loss[] = [ALIAS];

const NAMED = 'A2A over MQTT 0.1: the requester creates the task id and puts it in params.message.taskId of the first message';

/** What A2A over MQTT 0.1 can't express. */
export const mqttLosses: readonly Loss[] = [...namedTaskLosses(NAMED), ...DRAFT_LOSSES];
