import type { Loss } from '../dialect.ts';
import { DRAFT_LOSSES } from '../shared/losses.ts';

const TYPES = 'CortexPrism packages/server/src/a2a/types.ts';
const SERVER = 'CortexPrism packages/server/src/a2a/server.ts, handleA2ARequest';

/** What CortexPrism can't express. */
export const losses: readonly Loss[] = [
  { field: 'SendRequest.alias', reason: 'the server names every task', clause: SERVER },
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_SUBMITTED', 'TASK_STATE_AUTH_REQUIRED'],
    reason: 'Cortex has seven states; written as working and input required',
    clause: `${TYPES}, TaskState`,
  },
  { field: 'SendResult.message', reason: 'results are tasks; a direct message is written as a completed one', clause: SERVER },
  { field: 'SendResult.task', absent: true, reason: 'a task is written in place of a direct message', clause: SERVER },
  { field: 'TaskEvent.message', reason: 'streams have tasks only; a direct message is written as a completed one', clause: SERVER },
  { field: 'TaskEvent.task', absent: true, reason: 'a task is written in place of a direct message', clause: SERVER },
  ...DRAFT_LOSSES,
];
