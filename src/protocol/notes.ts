import type { Metadata } from './json.ts';

/**
 * Task metadata written by Parley itself, here: which remote task a proxied task belongs to. Parley trusts
 * what it reads under these names. A caller who could write them could reach another caller's data, so
 * they are set only through `CallContext.notes` and by agents, and are removed from everything that
 * callers and remote agents send.
 */
export const ORIGIN_NOTE = 'urn:parley:a2a:origin:v1';
/** The same for a task that is delegated over the mesh. */
export const MESH_NOTE = 'urn:parley:a2a:mesh:v1';

/** An agent's summary of a conversation's older messages (`ConversationSummary`). */
export const SUMMARY_NOTE = 'urn:parley:a2a:summary:v1';

/** The tool calls of a language model, one note for each step: the name with the step's number (`agents/llm`). */
export const LLM_NOTE = 'urn:parley:a2a:llm:v1:';

/** The id of the trace that a task belongs to, on nodes with the setting `traceUrl`. */
export const TRACE_NOTE = 'urn:parley:a2a:trace:v1';

/** The conversation of a task has a session of a coding agent, which is on the node that ran the task. */
export const SESSION_NOTE = 'urn:parley:a2a:session:v1';

function isNote(name: string): boolean {
  return OWN.has(name) || name.startsWith(LLM_NOTE);
}

const OWN: ReadonlySet<string> = new Set([ORIGIN_NOTE, MESH_NOTE, SUMMARY_NOTE, TRACE_NOTE, SESSION_NOTE]);

/** The metadata without Parley's own members; undefined when nothing else is left. */
export function withoutNotes(metadata: Metadata | undefined): Metadata | undefined {
  if (metadata === undefined || !Object.keys(metadata).some(isNote)) return metadata;
  const rest = Object.entries(metadata).filter(([name]) => !isNote(name));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}
