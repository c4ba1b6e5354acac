import { isMemberOf } from '../../members.ts';
import type { DataPart, Part } from '../../parts.ts';
import { isRaw } from '../shared/read.ts';

/**
 * Data parts by which SAM's agents report their work in status messages, told apart by `data.type`
 * (docs/dialects/sam.md, "Signals"). They are ordinary data in every dialect and are never changed.
 * These types help programs that show them.
 */
export const SIGNALS = [
  'tool_invocation_start',
  'tool_result',
  'llm_invocation',
  'llm_response',
  'agent_progress_update',
  'artifact_creation_progress',
  'artifact_saved',
  'template_block',
  'structured_invocation_request',
  'structured_invocation_result',
  'workflow_execution_start',
  'workflow_node_execution_start',
  'workflow_node_execution_result',
  'workflow_map_progress',
  'workflow_execution_result',
  'deep_research_progress',
  'deep_research_plan',
  'deep_research_plan_stale',
  'deep_research_report',
  'rag_info_update',
  'compaction_notification',
  'thinking_content',
] as const;
/** Name of a signal. */
export type Signal = (typeof SIGNALS)[number];

const KNOWN: ReadonlySet<Signal> = new Set(SIGNALS);

/** The signal in a part, or undefined if the part is none. */
export function signalOf(part: Part): Signal | undefined {
  const type = isRaw(part.data) ? part.data.type : undefined;
  return isMemberOf(KNOWN, type) ? type : undefined;
}

/** Whether a part is a signal. */
export function isSignal(part: Part): part is DataPart {
  return signalOf(part) !== undefined;
}
