import type { Loss } from '../dialect.ts';
import { absences, DRAFT_LOSSES, lossesOf } from '../shared/losses.ts';
import { plainCardLosses } from '../shared/plain-card.ts';

/** What 0.1 has no place for. Clauses name definitions of its JSON Schema (tag v0.1.0), or its text. */
export const losses: readonly Loss[] = [
  ...lossesOf('A2A 0.1.0 Message: role, parts, metadata', 'messages have no ids and no references', [
    'Message.messageId',
    'Message.taskId',
    'Message.extensions',
    'Message.referenceTaskIds',
  ]),
  {
    field: 'Message.contextId',
    in: 'answers',
    reason: 'the session is named once, by the request and the task',
    clause: 'A2A 0.1.0 Message: role, parts, metadata; TaskSendParams.sessionId, Task.sessionId',
  },
  ...lossesOf('A2A 0.1.0 TextPart, DataPart: no such member', 'only files have a name and a media type', [
    'Part.filename',
    'Part.mediaType',
  ]).map((loss) => ({ ...loss, beside: ['text', 'data'] })),
  ...lossesOf('A2A 0.1.0 Artifact: index, no id', 'artifacts are numbered, not named', ['Artifact.artifactId']),
  ...lossesOf('A2A 0.1.0 Artifact: no such member', 'extensions came later', ['Artifact.extensions']),
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_REJECTED'],
    reason: 'written as failed',
    clause: 'A2A 0.1.0 TaskState: no rejected',
  },
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_AUTH_REQUIRED'],
    reason: 'written as input-required',
    clause: 'A2A 0.1.0 TaskState: no auth-required',
  },
  ...lossesOf('A2A 0.1.0 SendTaskResponse.result: Task', 'every result is a task; a direct message is written as a completed one', [
    'SendResult.message',
  ]),
  ...absences('A2A 0.1.0 SendTaskResponse.result: Task', 'a task is written in place of a direct message', ['SendResult.task']),
  ...lossesOf(
    'A2A 0.1.0 SendTaskStreamingResponse.result: status or artifact event',
    'a stream has status and artifact events only; tasks and messages are written as those',
    ['TaskEvent.task', 'TaskEvent.message'],
  ),
  ...absences(
    'A2A 0.1.0 SendTaskStreamingResponse.result: status or artifact event',
    'a status update is written in place of a task or a direct message',
    ['TaskEvent.statusUpdate'],
  ),
  ...lossesOf('A2A 0.1.0 TaskStatusUpdateEvent, TaskArtifactUpdateEvent: no session', 'events name their task only', [
    'TaskStatusUpdate.contextId',
    'TaskArtifactUpdate.contextId',
  ]),
  ...absences(
    'A2A 0.1.0 TaskSendParams.id: required',
    'the caller names every task; without a name the id of the task or the message is used',
    ['SendRequest.alias'],
  ),
  ...absences(
    'A2A 0.1.0 TaskSendParams: the params hold the members of a configuration',
    'there is always a configuration, even if it is empty',
    ['SendRequest.configuration'],
  ),
  ...lossesOf('A2A 0.1.0 TaskSendParams: no such member', 'the server decides how long it waits', ['SendConfiguration.returnImmediately']),
  ...lossesOf('A2A 0.1.0 TaskPushNotificationConfig.id is the task', 'a task has one webhook, without an id', [
    'PushConfig.id',
    'PushGetRequest.id',
  ]),
  ...absences('A2A 0.1.0 TaskPushNotificationConfig.id is the task', 'the task’s id is used, so setting it again replaces it', [
    'PushConfig.id',
  ]),
  ...lossesOf('A2A 0.1.0: no tenants', 'tenants came with 1.0', [
    'SendRequest.tenant',
    'GetRequest.tenant',
    'CancelRequest.tenant',
    'SubscribeRequest.tenant',
    'PushConfig.tenant',
    'PushGetRequest.tenant',
  ]),
  ...plainCardLosses('A2A 0.1.0 AgentCard, AgentCapabilities, AgentAuthentication, AgentSkill'),
  ...DRAFT_LOSSES,
];
