import type { Loss } from '../dialect.ts';
import { absences, DRAFT_LOSSES, lossesOf } from '../shared/losses.ts';
import { plainCardLosses } from '../shared/plain-card.ts';

/**
 * What Society has no place for. Clauses name the sections of its page "A2A Protocol"; its code has no
 * further members.
 */
export const losses: readonly Loss[] = [
  ...lossesOf('Society, Request format: params are id and message', 'params hold a thread and a message, nothing else', [
    'SendRequest.configuration',
    'SendRequest.metadata',
    'SendRequest.tenant',
  ]),
  ...absences(
    'Society, Request format: params.id',
    'every request names its thread; without a name the id of the task, context or message is used',
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
  ...lossesOf('Society, Message structure: only text parts (its code: text and data)', 'there are no files; a file is written as data', [
    'Part.raw',
    'Part.url',
    'Part.filename',
    'Part.mediaType',
  ]),
  ...absences('Society, Message structure: only text parts (its code: text and data)', 'data is written in place of a file', ['Part.data']),
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
  ...absences('Society, Task states', 'a state that Society lacks is described in words', ['TaskStatus.message']),
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_UNSPECIFIED'],
    reason: 'written as working',
    clause: 'Society, Task states: five states',
  },
  {
    field: 'TaskStatus.state',
    values: ['TASK_STATE_REJECTED'],
    reason: 'written as failed',
    clause: 'Society, Task states: five states',
  },
  ...lossesOf('Society, Response format: result is a task', 'every result is a task; a direct message is written as a completed one', [
    'SendResult.message',
  ]),
  ...absences('Society, Response format: result is a task', 'a task is written in place of a direct message', ['SendResult.task']),
  ...lossesOf('Society, GET /.well-known/agent.json: skills', 'a skill has no modes', ['AgentSkill.inputModes', 'AgentSkill.outputModes']),
  ...plainCardLosses('Society, GET /.well-known/agent.json: members of the card'),
  ...DRAFT_LOSSES.filter((loss) => loss.field === 'Task.generation'),
];
