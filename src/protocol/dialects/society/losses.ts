import type { Loss } from '../dialect.ts';
import { absences, DRAFT_LOSSES, lossesOf } from '../shared/losses.ts';
import { plainCardLosses } from '../shared/plain-card.ts';

/** What Society has no place for. Clauses name the sections of its A2A page; its code has no more members. */
export const losses: readonly Loss[] = [
  ...lossesOf('Society, Request format: params are id and message', 'params hold a thread and a message, nothing else', [
    'SendRequest.configuration',
    'SendRequest.metadata',
    'SendRequest.tenant',
  ]),
  ...absences(
    'Society, Request format: params.id',
    'every request names its thread; without a name the task, context or message lends its id',
    ['SendRequest.alias'],
  ),
  ...lossesOf('Society, Message structure: role and parts', 'a message is a role and parts', [
    'Message.messageId',
    'Message.contextId',
    'Message.taskId',
    'Message.metadata',
    'Message.extensions',
    'Message.referenceTaskIds',
  ]),
  ...lossesOf('Society, Message structure: only text parts (its code: text and data)', 'there are no files: one is told as data', [
    'Part.raw',
    'Part.url',
    'Part.filename',
    'Part.mediaType',
  ]),
  ...absences('Society, Message structure: only text parts (its code: text and data)', 'stands where a file was', ['Part.data']),
  ...lossesOf('Society, Message structure: type and text (its code: data too)', 'a part is a type and its content', ['Part.metadata']),
  ...lossesOf('Society, Artifacts: name and parts', 'an artifact is a name and parts', [
    'Artifact.artifactId',
    'Artifact.description',
    'Artifact.metadata',
    'Artifact.extensions',
  ]),
  ...absences('Society, Artifacts: the example', 'an artifact without a name is called response', ['Artifact.name']),
  ...lossesOf('Society, Response format: id, status, messages, artifacts', 'a task is its thread', ['Task.contextId', 'Task.metadata']),
  ...lossesOf('Society, Response format: status is state and message', 'a status has no time', ['TaskStatus.timestamp']),
  ...absences('Society, Task states', 'a state that it lacks is told in words', ['TaskStatus.message']),
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_UNSPECIFIED'],
    reason: 'said as working',
    clause: 'Society, Task states: five states',
  },
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_REJECTED'],
    reason: 'said as failed',
    clause: 'Society, Task states: five states',
  },
  ...lossesOf('Society, Response format: result is a task', 'every answer is a task: a message is one that is completed', [
    'SendResult.message',
  ]),
  ...absences('Society, Response format: result is a task', 'stands where a direct message was', ['SendResult.task']),
  ...lossesOf('Society, GET /.well-known/agent.json: skills', 'a skill has no modes', ['AgentSkill.inputModes', 'AgentSkill.outputModes']),
  ...plainCardLosses('Society, GET /.well-known/agent.json: members of the card'),
  ...DRAFT_LOSSES.filter((loss) => loss.field === 'Task.generation'),
];
