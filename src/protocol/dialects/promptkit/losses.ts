import type { Loss } from '../dialect.ts';
import { DRAFT_LOSSES } from '../shared/losses.ts';

const PARAMS = 'PromptKit runtime/a2a/types.go, params of the methods';
const CARD = 'PromptKit runtime/a2a/types.go, AgentCard';
const STREAM = 'PromptKit runtime/a2a/client.go, parseStreamEvent: artifact and status are all it reads';
const TASKS_ONLY = 'PromptKit runtime/a2a/client.go, SendMessage: the result is decoded as a Task';

/** What PromptKit can't express. */
export const losses: readonly Loss[] = [
  { field: 'SendRequest.alias', reason: 'the server names every task', clause: PARAMS },
  ...['SendRequest', 'GetRequest', 'ListRequest', 'CancelRequest', 'SubscribeRequest'].map((type) => ({
    field: `${type}.tenant`,
    reason: 'one server is one agent',
    clause: PARAMS,
  })),
  { field: 'SendConfiguration.taskPushNotificationConfig', reason: 'PromptKit has no push notifications', clause: PARAMS },
  { field: 'CancelRequest.metadata', reason: 'a cancel names the task and nothing else', clause: PARAMS },
  { field: 'ListRequest.statusTimestampAfter', reason: 'lists by context only', clause: PARAMS },
  { field: 'ListRequest.includeArtifacts', reason: 'lists whole tasks', clause: PARAMS },
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_UNSPECIFIED'],
    reason: 'its client refuses a response with an unknown state; written as working',
    clause: 'PromptKit runtime/a2a/types.go, TaskState.UnmarshalJSON',
  },
  { field: 'SendResult.message', reason: 'results are tasks; a direct message is written as a completed one', clause: TASKS_ONLY },
  { field: 'SendResult.task', absent: true, reason: 'a task is written in place of a direct message', clause: TASKS_ONLY },
  { field: 'TaskEvent.task', reason: 'streams have no task event; written as its status and its artifacts', clause: STREAM },
  { field: 'TaskEvent.message', reason: 'streams have no message event; written as an artifact and a completed status', clause: STREAM },
  {
    field: 'TaskEvent.statusUpdate',
    absent: true,
    reason: 'a status update is written in place of a task or a direct message',
    clause: STREAM,
  },
  { field: 'AgentCard.securitySchemes', reason: 'its card has no members for security', clause: CARD },
  { field: 'AgentCard.securityRequirements', reason: 'its card has no members for security', clause: CARD },
  { field: 'AgentSkill.securityRequirements', reason: 'its card has no members for security', clause: CARD },
  { field: 'AgentInterface.tenant', reason: 'one server is one agent', clause: CARD },
  { field: 'AgentExtension.params', reason: 'an extension is an address and a description', clause: CARD },
  ...DRAFT_LOSSES,
];
