import type { TraceContext } from '#protocol';
import type { TaskRow } from './ports.ts';

/** The request that brought a message. It is not stored: after a restart it is unknown. */
export interface CallOrigin {
  /** The trace that its run belongs to. */
  readonly trace?: TraceContext | undefined;
  /** The id of the HTTP request. */
  readonly requestId?: string | undefined;
}

/** The task that a report is about. */
export interface ReportedTask extends Pick<TaskRow, 'id' | 'contextId' | 'agent' | 'owner'> {
  /** The request whose message the task works on. */
  readonly origin?: CallOrigin | undefined;
  /** It is tried again, so nobody has to act. */
  readonly isTransient?: true;
}

/** Tells the log of a failure inside the engine. */
export type ReportFailure = (what: string, cause: unknown, about?: ReportedTask) => void;

/** A task in memory as a report names it. */
export function reported({ row, origin }: { readonly row: TaskRow; readonly origin: CallOrigin | undefined }): ReportedTask {
  const { id, contextId, agent, owner } = row;
  return { id, contextId, agent, owner, origin };
}
