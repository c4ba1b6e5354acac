import type { Loss } from '../dialect.ts';
import { DRAFT_LOSSES } from '../shared/losses.ts';
import { plainCardLosses } from '../shared/plain-card.ts';

const listed = (clause: string, reason: string, fields: readonly string[]): readonly Loss[] =>
  fields.map((field) => ({ field, reason, clause }));

/** What Society has no place for. Clauses name the sections of its A2A page; its code has no more members. */
export const losses: readonly Loss[] = [
  ...listed('Society, Request format: params are id and message', 'params hold a thread and a message, nothing else', [
    'SendRequest.configuration',
    'SendRequest.metadata',
    'SendRequest.tenant',
  ]),
  ...listed(
    'Society, Request format: params.id',
    'every request names its thread; without a name the task, context or message lends its id',
    ['SendRequest.alias'],
  ),
  ...listed('Society, Message structure: role and parts', 'a message is a role and parts', [
    'Message.messageId',
    'Message.contextId',
    'Message.taskId',
    'Message.metadata',
    'Message.extensions',
    'Message.referenceTaskIds',
  ]),
  ...listed('Society, Message structure: only text parts (its code: text and data)', 'there are no files: one is told as data', [
    'Part.raw',
    'Part.url',
    'Part.data',
    'Part.filename',
    'Part.mediaType',
  ]),
  ...listed('Society, Message structure: type and text (its code: data too)', 'a part is a type and its content', ['Part.metadata']),
  ...listed('Society, Artifacts: name and parts', 'an artifact is a name and parts', [
    'Artifact.artifactId',
    'Artifact.description',
    'Artifact.metadata',
    'Artifact.extensions',
  ]),
  ...listed('Society, Artifacts: the example', 'an artifact without a name is called response', ['Artifact.name']),
  ...listed('Society, Response format: id, status, messages, artifacts', 'a task is its thread', ['Task.contextId', 'Task.metadata']),
  ...listed('Society, Response format: status is state and message', 'a status has no time', ['TaskStatus.timestamp']),
  ...listed('Society, Task states', 'a state that it lacks is told in words', ['TaskStatus.message']),
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
  ...listed('Society, Response format: result is a task', 'every answer is a task: a message is one that is completed', [
    'SendResult.message',
    'SendResult.task',
  ]),
  ...listed('Society, GET /.well-known/agent.json: skills', 'a skill has no modes', ['AgentSkill.inputModes', 'AgentSkill.outputModes']),
  ...plainCardLosses('Society, GET /.well-known/agent.json: members of the card'),
  ...DRAFT_LOSSES.filter((loss) => loss.field === 'Task.generation'),
];
