import type { Metadata, TaskStatusUpdate } from '#protocol';
import { reportIn } from '#protocol';

/** What a progress status tells about the agents that work for this one. */
export type Voice =
  | { readonly kind: 'begins'; readonly id: string; readonly agent: string; readonly description: string; readonly taskId?: string }
  | { readonly kind: 'ends'; readonly id: string; readonly error?: string; readonly taskId?: string }
  /** The words are another agent's. */
  | { readonly kind: 'says'; readonly agent: string };

/**
 * Reads who speaks in a progress status. `agent` in the metadata of a status, or of its message, names the speaker; Solace Agent Mesh marks
 * the parts instead. `own`: the name of the agent itself. Undefined: the agent itself speaks.
 */
export function voiceIn({ status, metadata }: Pick<TaskStatusUpdate, 'status' | 'metadata'>, own = ''): Voice | undefined {
  const report = reportIn({ status, ...(metadata === undefined ? {} : { metadata }) });
  if (report?.kind === 'delegated') {
    const { id, agent, description = '', taskId } = report;
    return { kind: 'begins', id, agent, description, ...(taskId === undefined ? {} : { taskId }) };
  }
  if (report?.kind === 'returned') {
    const { id, error, taskId } = report;
    return { kind: 'ends', id, ...(error === undefined ? {} : { error }), ...(taskId === undefined ? {} : { taskId }) };
  }
  const { message } = status;
  const named = [metadata, message?.metadata].map((one) => nameIn(one, 'agent'));
  const peers = (message?.parts ?? []).map((part) => nameIn(part.metadata, 'forwarded_from_peer'));
  const agent = [...named, ...peers].find((name) => name !== undefined);
  return agent === undefined || agent === own ? undefined : { kind: 'says', agent };
}

function nameIn(metadata: Metadata | undefined, name: string): string | undefined {
  const value = metadata?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
