/**
 * Ids are branded strings: a task id can't be passed where a context id is wanted. Text from a wire becomes an id only in
 * the dialects' readers, which check it; everything else receives ids, it does not make them.
 */
declare const brand: unique symbol;
type Branded<Base, Name> = Base & { readonly [brand]: Name };

export type TaskId = Branded<string, 'TaskId'>;
export type ContextId = Branded<string, 'ContextId'>;
export type MessageId = Branded<string, 'MessageId'>;
export type ArtifactId = Branded<string, 'ArtifactId'>;
export type PushConfigId = Branded<string, 'PushConfigId'>;
export type TenantId = Branded<string, 'TenantId'>;
export type DialectId = Branded<string, 'DialectId'>;

/** The name a caller chose for a task (0.1, Society, SAM, A2A over MQTT). It is an alias, never the task's own id. */
export type ExternalId = Branded<string, 'ExternalId'>;

/** Position in a task's event log, from 1. Also the SSE `id`, the resume cursor and the 1.1 draft's `generation`. */
export type Seq = Branded<number, 'Seq'>;

export const taskId = (text: string): TaskId => text as TaskId;
export const contextId = (text: string): ContextId => text as ContextId;
export const messageId = (text: string): MessageId => text as MessageId;
export const artifactId = (text: string): ArtifactId => text as ArtifactId;
export const pushConfigId = (text: string): PushConfigId => text as PushConfigId;
export const tenantId = (text: string): TenantId => text as TenantId;
export const dialectId = (text: string): DialectId => text as DialectId;
export const externalId = (text: string): ExternalId => text as ExternalId;
export const seq = (position: number): Seq => position as Seq;

/** Before the first event of a log. */
export const NO_EVENT: Seq = seq(0);
export const seqAfter = (at: Seq): Seq => seq(at + 1);
export const seqBefore = (at: Seq): Seq => seq(at - 1);
