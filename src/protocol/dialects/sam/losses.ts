import type { Loss } from '../dialect.ts';
import { DRAFT_LOSSES, namedTaskLosses } from '../shared/losses.ts';

const MODEL = 'A2A 0.3.0 TextPart and DataPart, which SAM uses';
const NAMED = 'docs/dialects/sam.md, Model: the request id is the task id; Solace Agent Mesh, Message Object: task_id';

/** What Solace Agent Mesh can't express, in either spelling. */
export const losses: readonly Loss[] = [
  ...namedTaskLosses(NAMED),
  ...['SendRequest.tenant', 'CancelRequest.tenant', 'AgentInterface.tenant'].map((field) => ({
    field,
    reason: 'SAM has no tenants; its namespace is the root of the topics',
    clause: 'docs/dialects/sam.md, Topics: {namespace}/a2a/v1',
  })),
  { field: 'Part.filename', beside: ['text', 'data'], reason: 'only a file has a name', clause: MODEL },
  { field: 'Part.mediaType', beside: ['text', 'data'], reason: 'only a file has a media type', clause: MODEL },
  {
    field: 'AgentInterface.protocolVersion',
    reason: 'one version for the whole card: that of the first interface',
    clause: 'A2A 0.3.0 AgentInterface {url, transport}',
  },
  ...DRAFT_LOSSES.filter((loss) => !loss.field.startsWith('GetRequest.')),
];
