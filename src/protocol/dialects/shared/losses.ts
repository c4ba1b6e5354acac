import type { Loss } from '../dialect.ts';

/** Several members that are lost for the same reason. */
export function lossesOf(clause: string, reason: string, fields: readonly string[]): readonly Loss[] {
  return fields.map((field) => ({ field, reason, clause }));
}

/** Members that the dialect must fill. What is lost is that they were absent. */
export function absences(clause: string, reason: string, fields: readonly string[]): readonly Loss[] {
  return fields.map((field) => ({ field, absent: true, reason, clause }));
}

/**
 * For dialects whose callers name the task in the message of a request: the id there is read as an
 * alias.
 */
export function namedTaskLosses(clause: string): readonly Loss[] {
  return [
    {
      field: 'Message.taskId',
      in: 'requests',
      reason: 'the task id in a request’s message is read as the caller’s name for the task (alias)',
      clause,
    },
    {
      field: 'SendRequest.alias',
      absent: true,
      reason: 'a task id in the message of a request is read as the caller’s name for the task',
      clause,
    },
  ];
}

/** The 1.1 draft's generation counter, which only its own variant can carry. */
export const DRAFT_LOSSES: readonly Loss[] = [
  ...['Task.generation', 'TaskStatusUpdate.generation', 'TaskArtifactUpdate.generation'].map((field) => ({
    field,
    reason: 'a counter of the unreleased 1.1 draft',
    clause: 'A2A 1.1 draft (branch dev-1.1): no released version has the member',
  })),
  {
    field: 'SendConfiguration.ifGenerationMatch',
    reason: 'a condition of the unreleased 1.1 draft',
    clause: 'A2A 1.1 draft (branch dev-1.1): no released version has the member',
  },
  {
    field: 'GetRequest.currentGeneration',
    reason: 'a long poll of the unreleased 1.1 draft',
    clause: 'A2A 1.1 draft (branch dev-1.1): no released version has the member',
  },
];
