/**
 * Ids are branded strings: a task id can't be passed where a context id is expected. Only the readers
 * of the dialects turn text from a wire into an id, after checking it.
 */
declare const brand: unique symbol;
type Branded<Base, Name> = Base & { readonly [brand]: Name };

/** Id of a task, chosen by the server. */
export type TaskId = Branded<string, 'TaskId'>;
/** Id of a conversation, which groups tasks. */
export type ContextId = Branded<string, 'ContextId'>;
/** Id of a message, chosen by its sender. */
export type MessageId = Branded<string, 'MessageId'>;
/** Id of an artifact, unique within its task. */
export type ArtifactId = Branded<string, 'ArtifactId'>;
/** Id of a push config, unique within its task. */
export type PushConfigId = Branded<string, 'PushConfigId'>;
/** Name that separates the data of one caller's customers. */
export type TenantId = Branded<string, 'TenantId'>;
/** Id of a dialect, for example `v10` or `v03`; see `DIALECTS`. */
export type DialectId = Branded<string, 'DialectId'>;

/**
 * Task name that the caller chose (0.1, Society, SAM, A2A over MQTT). An alias; the task has its own
 * id.
 */
export type ExternalId = Branded<string, 'ExternalId'>;

/**
 * Position in a task's log, counted from 1. Also the SSE `id`, the resume cursor, and `generation` in
 * the 1.1 draft.
 */
export type Seq = Branded<number, 'Seq'>;

/** Types a text as a task id, for ids that your own code stored or received. Checks nothing. */
export const taskId = (text: string): TaskId => text as TaskId;
/** Types a text as a context id. Checks nothing. */
export const contextId = (text: string): ContextId => text as ContextId;
/** Types a text as a message id. Checks nothing. */
export const messageId = (text: string): MessageId => text as MessageId;
export const artifactId = (text: string): ArtifactId => text as ArtifactId;
export const pushConfigId = (text: string): PushConfigId => text as PushConfigId;
export const tenantId = (text: string): TenantId => text as TenantId;
/**
 * Types a text as a dialect id. Checks nothing; `createRegistry(DIALECTS).byId` tells whether it
 * exists.
 */
export const dialectId = (text: string): DialectId => text as DialectId;
export const externalId = (text: string): ExternalId => text as ExternalId;
/** Types a number as a sequence number. Checks nothing. */
export const seq = (position: number): Seq => position as Seq;

/** Position before the first entry of a log. */
export const NO_EVENT: Seq = seq(0);
/** The next position. */
export const seqAfter = (at: Seq): Seq => seq(at + 1);
/** The position before. */
export const seqBefore = (at: Seq): Seq => seq(at - 1);
