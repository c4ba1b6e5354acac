import type { Loss } from '../dialect.ts';
import { absences, DRAFT_LOSSES, lossesOf } from '../shared/losses.ts';
import { plainCardLosses } from '../shared/plain-card.ts';

/** What 0.1 has no place for. Clauses name definitions of its JSON Schema (tag v0.1.0), or its prose. */
export const losses: readonly Loss[] = [
  ...lossesOf('0.1 Message: role, parts, metadata', 'messages have no ids and no references', [
    'Message.messageId',
    'Message.taskId',
    'Message.extensions',
    'Message.referenceTaskIds',
  ]),
  {
    field: 'Message.contextId',
    in: 'answers',
    reason: 'the session is named once, by the request and the task',
    clause: '0.1 Message: role, parts, metadata; TaskSendParams.sessionId, Task.sessionId',
  },
  ...lossesOf('0.1 TextPart, DataPart: no such member', 'only files have a name and a media type', ['Part.filename', 'Part.mediaType']).map(
    (loss) => ({ ...loss, beside: ['text', 'data'] }),
  ),
  ...lossesOf('0.1 Artifact: index, no id', 'artifacts are numbered, not named', ['Artifact.artifactId']),
  ...lossesOf('0.1 Artifact: no such member', 'extensions came later', ['Artifact.extensions']),
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_REJECTED'],
    reason: 'said as failed',
    clause: '0.1 TaskState: no rejected',
  },
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_AUTH_REQUIRED'],
    reason: 'said as input-required',
    clause: '0.1 TaskState: no auth-required',
  },
  ...lossesOf('0.1 SendTaskResponse.result: Task', 'every answer is a task: a message is one that is completed', ['SendResult.message']),
  ...absences('0.1 SendTaskResponse.result: Task', 'stands where a direct message was', ['SendResult.task']),
  ...lossesOf(
    '0.1 SendTaskStreamingResponse.result: status or artifact event',
    'a stream tells tasks and messages as status and artifact events',
    ['TaskEvent.task', 'TaskEvent.message'],
  ),
  ...absences('0.1 SendTaskStreamingResponse.result: status or artifact event', 'stands where a task or a direct message was', [
    'TaskEvent.statusUpdate',
  ]),
  ...lossesOf('0.1 TaskStatusUpdateEvent, TaskArtifactUpdateEvent: no session', 'events name their task only', [
    'TaskStatusUpdate.contextId',
    'TaskArtifactUpdate.contextId',
  ]),
  ...absences('0.1 TaskSendParams.id: required', 'the caller names every task; without a name the task or the message lends its id', [
    'SendRequest.alias',
  ]),
  ...absences('0.1 TaskSendParams: members of a configuration stand in the params', 'there is always a configuration, if an empty one', [
    'SendRequest.configuration',
  ]),
  ...lossesOf('0.1 TaskSendParams: no such member', 'the server decides how long it waits', ['SendConfiguration.returnImmediately']),
  ...lossesOf('0.1 TaskPushNotificationConfig.id is the task', 'a task has one webhook, without an id', [
    'PushConfig.id',
    'PushGetRequest.id',
  ]),
  ...absences('0.1 TaskPushNotificationConfig.id is the task', 'the task lends its id, so that setting it again replaces it', [
    'PushConfig.id',
  ]),
  ...lossesOf('0.1 has no tenants', 'tenants came with 1.0', [
    'SendRequest.tenant',
    'GetRequest.tenant',
    'CancelRequest.tenant',
    'SubscribeRequest.tenant',
    'PushConfig.tenant',
    'PushGetRequest.tenant',
  ]),
  ...plainCardLosses('0.1 AgentCard, AgentCapabilities, AgentAuthentication, AgentSkill'),
  ...DRAFT_LOSSES,
];
