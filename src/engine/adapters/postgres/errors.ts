import { A2AError, isA2AError } from '#protocol';

/**
 * What an error of a statement says about its effects.
 *
 * - `lost`: the connection ended before the answer. The statement may have been executed, or may still be.
 * - `later`: the server refused it, nothing was written, and it may succeed later.
 * - `wrong`: the server refused it for good.
 */
export type StatementFate = 'lost' | 'later' | 'wrong';

/** SQLSTATE of an insert whose replica does not exist any more. */
export const FOREIGN_KEY = '23503';
/** SQLSTATE of a row that is there already. */
export const UNIQUE = '23505';
/** SQLSTATE of `1/0`, with which a commit cancels itself. */
export const DIVISION_BY_ZERO = '22012';

/**
 * Classes and codes after which a retry makes sense: connection refused, resources, serialisation,
 * cancelled by a timeout, locks, read-only after a failover, errors of the server's disk.
 */
const LATER = /^(08|53|58|40|57|55P03|25006)/;
/** The database, a schema, table, column or function is gone: an operator may bring it back. */
const GONE = /^(3D000|3F000|42P01|42703|42883)$/;
/** The role may not connect, or may not use a table: an operator may grant it again. */
const DENIED = /^(28|42501)/;
/**
 * The server ends the connection: it is shut down, crashed, or an operator ended the session. The
 * statement may have been committed just before.
 */
const ENDED = /^(57P0[1-5]|08)/;

/** The SQLSTATE of an error, if the server answered at all. */
export function sqlState(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') return undefined;
  return /^[0-9A-Z]{5}$/.test(thrown.code) && !thrown.code.startsWith('E') ? thrown.code : undefined;
}

export function fateOf(thrown: unknown): StatementFate {
  const state = sqlState(thrown);
  if (state === undefined || ENDED.test(state)) return 'lost';
  return LATER.test(state) || needsOperator(thrown) ? 'later' : 'wrong';
}

/** Whether somebody has to correct the database: something is gone, or the role may not use it. */
export function needsOperator(thrown: unknown): boolean {
  const state = sqlState(thrown) ?? '';
  return GONE.test(state) || DENIED.test(state);
}

/** When callers should come back while the database can't be reached. */
const RETRY_AFTER_MS = 1000;

/** The error for callers while the database can't be used. */
export function unavailable(cause: unknown): A2AError {
  if (isA2AError(cause)) return cause;
  return new A2AError('UNAVAILABLE', 'the database can’t be used at the moment', { retryAfterMs: RETRY_AFTER_MS, cause });
}

/** Runs something that changes nothing: any failure that may pass becomes UNAVAILABLE. */
export async function reading<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw fateOf(thrown) === 'wrong' ? thrown : unavailable(thrown);
  }
}
