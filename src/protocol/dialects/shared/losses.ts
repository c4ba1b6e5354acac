import type { Loss } from '../dialect.ts';

/** The 1.1 draft's generation counter, which nothing but its own variant can carry. */
export const DRAFT_LOSSES: readonly Loss[] = [
  ...['Task.generation', 'TaskStatusUpdate.generation', 'TaskArtifactUpdate.generation'].map((field) => ({
    field,
    reason: 'counts events in the unreleased 1.1 draft only',
    clause: 'protocol 1.1 draft (branch dev-1.1); no released version has the member',
  })),
  {
    field: 'SendConfiguration.ifGenerationMatch',
    reason: 'a condition of the unreleased 1.1 draft',
    clause: 'protocol 1.1 draft (branch dev-1.1); no released version has the member',
  },
  {
    field: 'GetRequest.currentGeneration',
    reason: 'a long poll of the unreleased 1.1 draft',
    clause: 'protocol 1.1 draft (branch dev-1.1); no released version has the member',
  },
];
